/// Values that PyTorch computed: test/golden/NAME.h5, made by the scripts beside them.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wasp::test {

/// The same integer hash as in the scripts: multiples of 2^-20 in [-1, 1).
inline double hashed(std::uint64_t index, std::uint64_t salt) {
    std::uint64_t z = index + (salt << 32U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z = z ^ (z >> 31U);
    return static_cast<double>(static_cast<std::int64_t>(z >> 43U) - (1 << 20)) / (1 << 20);
}

class GoldenFile {
public:
    explicit GoldenFile(const std::string& model)
        : file_(H5Fopen(("test/golden/" + model + ".h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {}
    GoldenFile(const GoldenFile&) = delete;
    GoldenFile& operator=(const GoldenFile&) = delete;
    ~GoldenFile() { H5Fclose(file_); }

    std::vector<double> read(const std::string& path) const {
        const hid_t dataset = H5Dopen2(file_, path.c_str(), H5P_DEFAULT);
        EXPECT_GE(dataset, 0) << path;
        const hid_t space = H5Dget_space(dataset);
        std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        EXPECT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                  0);
        H5Sclose(space);
        H5Dclose(dataset);
        return values;
    }

private:
    hid_t file_;
};

}  // namespace wasp::test
