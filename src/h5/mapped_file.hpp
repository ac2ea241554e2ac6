/// Private to src/h5/: the bytes of a file, to look at what libhdf5 believes before it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "source.hpp"

namespace wasp::h5 {

class MappedFile {
public:
    /// Mapped when first asked for, as long as the source is open. Nothing for what is not looked
    /// at: files above 16 GiB.
    static const MappedFile* of(const File::Source& source);

    MappedFile(const File::Source& source, std::size_t user_block);
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    /// From the superblock on: addresses in a file count from there.
    std::string_view bytes() const { return bytes_.substr(user_block_); }
    std::size_t user_block() const { return user_block_; }

private:
    std::string_view bytes_;
    std::size_t user_block_;
};

/// Little-endian.   place + its size <= bytes.size().
template <class Number>
Number number_at(std::string_view bytes, std::size_t place) {
    Number number = 0;
    std::memcpy(&number, bytes.data() + place, sizeof number);
    return number;
}

/// place < bytes.size().
inline std::size_t byte_at(std::string_view bytes, std::size_t place) {
    return number_at<std::uint8_t>(bytes, place);
}

}  // namespace wasp::h5
