#include "cifar.hpp"

#include "base/error.hpp"
#include "data/import.hpp"
#include "packed_file.hpp"

namespace wasp {

void read_cifar(const std::filesystem::path& path, const CifarFormat& format, HeldSplit& into) {
    PackedFile file(path);
    std::vector<std::byte> record(format.record());
    for (std::size_t index = 0;; ++index) {
        const std::size_t got = file.read(record);
        if (got == 0) return;
        REQUIRE(got == record.size(),
                "{}: record {} of {} has {} bytes instead of {}: cut off, or another format",
                file.name(), index, format.name, got, record.size());
        int label = 0;
        for (std::size_t i = 0; i < format.labels; ++i) {
            label = std::to_integer<int>(record[i]);
            REQUIRE(label < format.limits[i],
                    "{}: record {}: label {} of {}, at most {}: damaged, or another format",
                    file.name(), index, label, format.name, format.limits[i] - 1);
        }
        into.labels.push_back(static_cast<std::uint16_t>(label));
        into.images.insert(into.images.end(),
                           record.begin() + static_cast<std::ptrdiff_t>(format.labels),
                           record.end());
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
