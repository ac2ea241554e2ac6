#include "idx.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "h5/foreign_file.hpp"
#include "memory_need.hpp"
#include "packed_file.hpp"

namespace wasp {

namespace {

constexpr unsigned unsigned_bytes = 0x08;
constexpr std::size_t largest_side = 8192;

unsigned number(std::byte byte) {
    return std::to_integer<unsigned>(byte);
}

std::size_t read_size(PackedFile& file) {
    std::array<std::byte, 4> bytes{};
    file.read_all_of(bytes, "the header");
    std::size_t size = 0;
    for (const auto byte : bytes) size = size << 8U | number(byte);
    return size;
}

/// Error: the file that starts so is of another format that we know.
void refuse_foreign(PackedFile& file, std::span<const std::byte> start) {
    std::vector<std::byte> head(h5::foreign_head_bytes);
    std::ranges::copy(start, head.begin());
    const auto more = file.read(std::span(head).subspan(start.size()));
    const auto what =
        h5::describe_foreign({reinterpret_cast<const char*>(head.data()), start.size() + more});
    REQUIRE(what.empty(), "{}: is not IDX but {}", file.name(), what);
}

}  // namespace

bool looks_like_idx(std::array<std::byte, 4> start) {
    const unsigned type = number(start[2]);
    const bool known_type = type == 0x08 || type == 0x09 || (type >= 0x0b && type <= 0x0e);
    return number(start[0]) == 0 && number(start[1]) == 0 && known_type && number(start[3]) >= 1 &&
           number(start[3]) <= 4;
}

Idx read_idx(const std::filesystem::path& path) {
    PackedFile file(path);
    std::array<std::byte, 4> magic{};
    file.read_all_of(magic, "the header");
    const unsigned type = number(magic[2]);
    const unsigned rank = number(magic[3]);
    const bool is_idx = number(magic[0]) == 0 && number(magic[1]) == 0 && rank > 0;
    if (!is_idx) refuse_foreign(file, magic);
    REQUIRE(is_idx,
            "{}: is not an IDX file: it starts with {:02x} {:02x} {:02x} {:02x}, expected 00 00 08 "
            "03 (images) or 00 00 08 01 (labels)",
            file.name(), number(magic[0]), number(magic[1]), type, rank);
    REQUIRE(type == unsigned_bytes,
            "{}: IDX values of type 0x{:02x}; only unsigned bytes (0x08) are read", file.name(),
            type);
    REQUIRE(rank == 1 || rank == 3, "{}: IDX of {} dimensions, expected 1 (labels) or 3 (images)",
            file.name(), rank);

    Idx idx;
    std::size_t count = 1;
    for (unsigned i = 0; i < rank; ++i) {
        const std::size_t side = read_size(file);
        REQUIRE(side > 0 && (i == 0 || side <= largest_side), "{}: declares a dimension of {}",
                file.name(), side);
        idx.sides.push_back(side);
        count *= side;  // at most 2^32 · 2^13 · 2^13
    }
    REQUIRE(count <= file.most_bytes(),
            "{}: declares {} values, more than its bytes can hold: cut off or damaged; copy or "
            "download it again",
            file.name(), count);
    check_memory_need(file.name(), count);
    idx.values.resize(count);
    file.read_all_of(idx.values, "values");
    file.expect_end();
    return idx;
}

Idx read_idx_images(const std::filesystem::path& path) {
    auto idx = read_idx(path);
    REQUIRE(idx.sides.size() == 3, "{}: holds labels, expected images", path.string());
    return idx;
}

std::vector<std::uint16_t> read_idx_labels(const std::filesystem::path& path) {
    const auto idx = read_idx(path);
    REQUIRE(idx.sides.size() == 1, "{}: holds images, expected labels", path.string());
    std::vector<std::uint16_t> labels(idx.values.size());
    std::ranges::transform(idx.values, labels.begin(),
                           [](std::byte value) { return static_cast<std::uint16_t>(value); });
    return labels;
}

}  // namespace wasp
