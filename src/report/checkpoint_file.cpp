#include "report/checkpoint_file.hpp"

#include <fmt/format.h>

#include <limits>

#include "add_model.hpp"
#include "base/error.hpp"
#include "h5/reader.hpp"
#include "own_file.hpp"

namespace wasp {

namespace {

constexpr int most_ranks = 1 << 20;

std::string name_of(std::size_t rank) {
    return fmt::format("/ranks/{}", rank);
}

std::vector<std::byte> read_rank(const h5::File& file, std::size_t rank) {
    const auto array = file.array(name_of(rank));
    REQUIRE(array.shape().size() == 1 && array.element().bytes == 1, "{}: expected a list of bytes",
            array.where());
    std::vector<std::byte> bytes(array.size());
    array.read(0, array.rows(), bytes);
    return bytes;
}

}  // namespace

std::vector<std::byte> as_bytes(const Checkpoint& checkpoint) {
    h5::Writer writer;
    writer.attribute("/", "program", checkpoint_kind.program);
    writer.attribute("/", "step", checkpoint.step);
    writer.attribute("/", "ranks", static_cast<std::int64_t>(checkpoint.ranks.size()));
    writer.attribute("/", "options", checkpoint.options);
    writer.attribute("/", "dataset_sha256", checkpoint.dataset_sha256);
    add_model(writer, checkpoint.model);
    writer.group("/ranks");
    for (std::size_t rank = 0; rank < checkpoint.ranks.size(); ++rank) {
        const auto& bytes = checkpoint.ranks[rank];
        const std::span numbers(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        constexpr std::size_t chunk = std::size_t{1} << 20U;
        writer.dataset(name_of(rank), numbers, {bytes.size()},
                       {.chunk = {std::min(chunk, bytes.size())}});  // chunks carry checksums
    }
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
    const h5::File file(path);
    check_kind(file, checkpoint_kind);
    Checkpoint checkpoint;
    checkpoint.step =
        whole_attribute(file, "/", "step", 0, std::numeric_limits<std::int64_t>::max());
    checkpoint.options = text_attribute(file, "/", "options");
    checkpoint.dataset_sha256 = text_attribute(file, "/", "dataset_sha256");
    const auto ranks = static_cast<std::size_t>(whole_attribute(file, "/", "ranks", 1, most_ranks));
    for (std::size_t rank = 0; rank < ranks; ++rank)
        checkpoint.ranks.push_back(read_rank(file, rank));
    return checkpoint;
}

std::vector<std::byte> read_state_of_rank(const std::filesystem::path& path, int rank) {
    const h5::File file(path);
    check_kind(file, checkpoint_kind);
    return read_rank(file, static_cast<std::size_t>(rank));
}

}  // namespace wasp
