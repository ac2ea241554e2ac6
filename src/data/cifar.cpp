#include "cifar.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "base/error.hpp"
#include "data/import.hpp"
#include "h5/foreign_file.hpp"
#include "memory_need.hpp"
#include "packed_file.hpp"

namespace wasp {

namespace {

using Bytes = std::span<const std::byte>;

/// The first label of a record that is out of range; empty: none is.
struct Fault {
    std::size_t record;
    int label, limit;
};

std::optional<Fault> find_fault(Bytes bytes, const CifarFormat& format) {
    for (std::size_t i = 0; (i + 1) * format.record() <= bytes.size(); ++i)
        for (std::size_t k = 0; k < format.labels; ++k) {
            const int label = std::to_integer<int>(bytes[i * format.record() + k]);
            if (label >= format.limits[k]) return Fault{i, label, format.limits[k]};
        }
    return std::nullopt;
}

/// What the bytes seem to be instead, where their labels are none.
std::string guess_fault(Bytes bytes, const CifarFormat& format) {
    const auto labels_fit = [&](Bytes shifted) {
        return shifted.size() >= format.record() && !find_fault(shifted, format);
    };
    if (labels_fit(bytes.subspan(1))) return "a byte too many stands in front of the records";
    if (labels_fit(bytes.subspan(format.record() - 1)))
        return "a byte is missing in front: its labels stand one byte too early";
    return "damaged, or another format";
}

std::vector<std::byte> read_all(const std::filesystem::path& path, const CifarFormat& format) {
    PackedFile file(path);
    REQUIRE(!file.gzipped(), "{}: is compressed with gzip; gunzip it first", file.name());
    const std::size_t size = file.file_bytes();
    std::vector<std::byte> bytes(std::min(size, h5::foreign_head_bytes));
    file.read_all_of(bytes, "the file");
    const auto what =
        h5::describe_foreign({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    REQUIRE(what.empty(), "{}: is not {} but {}", file.name(), format.name, what);

    const auto& other = format.labels == cifar10.labels ? cifar100 : cifar10;
    REQUIRE(size % format.record() == 0 || size % other.record() != 0,
            "{}: its size is that of {} records of {} bytes, which are {}'s, not {}'s", file.name(),
            size / other.record(), other.record(), other.name, format.name);
    REQUIRE(size % format.record() == 0,
            "{}: {} records of {} bytes ({}), and {} bytes more: cut off, or another format",
            file.name(), size / format.record(), format.record(), format.name,
            size % format.record());
    check_memory_need(file.name(), 2 * size);
    bytes.resize(size);
    file.read_all_of(std::span(bytes).subspan(std::min(size, h5::foreign_head_bytes)), "the file");
    return bytes;
}

}  // namespace

void read_cifar(const std::filesystem::path& path, const CifarFormat& format, HeldSplit& into) {
    const auto bytes = read_all(path, format);
    if (const auto fault = find_fault(bytes, format))
        throw Error(ExitCode::usage,
                    fmt::format("{}: record {}: label {} of {}, at most {}: {}", path.string(),
                                fault->record, fault->label, format.name, fault->limit - 1,
                                guess_fault(bytes, format)));
    for (auto record = bytes.begin(); record != bytes.end();) {
        const auto pixels = record + static_cast<std::ptrdiff_t>(format.labels);
        into.labels.push_back(std::to_integer<std::uint16_t>(pixels[-1]));
        record += static_cast<std::ptrdiff_t>(format.record());
        into.images.insert(into.images.end(), pixels, record);
    }
}

namespace {

constexpr ImageShape shape{3, 32, 32};

std::string import_cifar(const CifarFormat& format, const std::filesystem::path& folder,
                         std::initializer_list<const char*> train_files, const char* test_file,
                         const std::filesystem::path& out) {
    check_target(out);
    REQUIRE(std::filesystem::is_directory(folder), "{}: is not a folder", folder.string());
    HeldSplit train;
    HeldSplit test;
    for (const char* file : train_files) read_cifar(folder / file, format, train);
    read_cifar(folder / test_file, format, test);
    return write_own_file(out, shape, format.classes, train, test);
}

}  // namespace

std::string import_cifar10(const std::filesystem::path& folder, const std::filesystem::path& out) {
    return import_cifar(cifar10, folder,
                        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                         "data_batch_4.bin", "data_batch_5.bin"},
                        "test_batch.bin", out);
}

std::string import_cifar100(const std::filesystem::path& folder, const std::filesystem::path& out) {
    return import_cifar(cifar100, folder, {"train.bin"}, "test.bin", out);
}

}  // namespace wasp
