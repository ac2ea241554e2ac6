/// Private to src/h5/: the filters of a chunked dataset. Those that people use are undone here and
/// not by the library, which takes whatever a chunk unpacks to (HDF5 1.10: what is missing is read
/// from stale memory). Source: HDF5 File Format Specification, III.B; H5Zshuffle.c, H5checksum.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "handle.hpp"

namespace wasp::h5 {

struct Filter {
    int id = 0;  ///< H5Z_filter_t
    std::vector<unsigned> parameters{};
};

class Filters {
public:
    /// where: to start messages with.   Error: a filter that this program can't undo, by name.
    Filters(hid_t creation_properties, std::string where);

    bool none() const { return filters_.empty(); }
    bool compressing() const;
    /// Whether unpack() knows them all; the others (szip, n-bit, scale-offset) are the library's.
    bool ours() const;

    /// Error: the library's filters would not unpack to `bytes` bytes of elements of
    /// `element_bytes`.
    void check_library_filters(std::size_t bytes, std::size_t element_bytes) const;
    /// Error: this chunk would not unpack to `bytes` bytes.
    void check_library_chunk(std::span<const std::byte> packed, std::uint32_t skipped,
                             std::size_t bytes) const;

    /// packed → bytes.   skipped: bit i means that filter i was not applied to this chunk.
    /// Error: damaged, or more or less than exactly bytes.size().
    void unpack(std::span<const std::byte> packed, std::uint32_t skipped,
                std::span<std::byte> bytes) const;

private:
    std::vector<Filter> filters_;
    std::string where_;
};

}  // namespace wasp::h5
