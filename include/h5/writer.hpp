/// Making HDF5 files: built in memory, so that neither a full disk nor a crash nor a file system
/// without locks meets the library; replace_file() (h5/atomic_file.hpp) puts the bytes on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace wasp::h5 {

using Shape = std::vector<std::size_t>;

/// How a dataset is laid out in the file. Chunked ones carry a checksum (fletcher32).
struct Storage {
    Shape chunk;      ///< empty: contiguous
    int deflate = 0;  ///< 0: not compressed; 1 (fast) … 9 (small), after byte shuffling
};

/// Chunks of about 64 KiB, lightly compressed, for what is larger than that; contiguous otherwise.
Storage suitable_storage(const Shape& shape, std::size_t element_bytes);

/// Numbers to be written, which stay the caller's; in the file they have the same type.
struct Values {
    enum class Type { uint8, uint16, int32, int64, float32, float64 };

    template <std::ranges::contiguous_range Range>
    Values(const Range& range)
        : type(type_of<std::ranges::range_value_t<Range>>()),
          data(std::ranges::data(range)),
          count(std::ranges::size(range)) {}

    Type type;
    const void* data;
    std::size_t count;

private:
    template <class T>
    static constexpr Type type_of() {
        if constexpr (std::is_same_v<T, std::uint8_t>) return Type::uint8;
        if constexpr (std::is_same_v<T, std::uint16_t>) return Type::uint16;
        if constexpr (std::is_same_v<T, std::int32_t>) return Type::int32;
        if constexpr (std::is_same_v<T, std::int64_t>) return Type::int64;
        if constexpr (std::is_same_v<T, float>) return Type::float32;
        if constexpr (std::is_same_v<T, double>) return Type::float64;
    }
};

/// Objects are named by paths from the root ("/curve/seconds"); the parents of a dataset or group
/// must exist. Readable by every HDF5 since 1.8.
/// Error (of all): the library refused, or a name is taken: our own mistakes, exit code 1.
class Writer {
public:
    Writer();
    ~Writer();
    Writer(Writer&&) noexcept;
    Writer& operator=(Writer&&) noexcept;

    void group(const std::string& path);

    // Of the group or dataset at `path` ("/": the file). Strings are UTF-8 of variable length,
    // truth values are as h5py writes them.
    void attribute(const std::string& path, const std::string& name, bool value);
    void attribute(const std::string& path, const std::string& name, std::int64_t value);
    void attribute(const std::string& path, const std::string& name, double value);
    void attribute(const std::string& path, const std::string& name, const std::string& value);
    void attribute(const std::string& path, const std::string& name, const char* value);
    void attribute(const std::string& path, const std::string& name,
                   std::span<const double> values);
    /// A string of fixed length, UTF-8: unlike the others it can be read from a damaged file
    /// without danger (File::text), but h5py returns it as bytes.
    void text(const std::string& path, const std::string& name, const std::string& value);

    /// values: row-major, as many as `shape` says.
    void dataset(const std::string& path, const Values& values, const Shape& shape,
                 const Storage& storage = {});
    /// (n) strings, UTF-8, of the length of the longest.
    void dataset(const std::string& path, std::span<const std::string> values);

    /// The dataset at `scale` says what the positions along `dimension` of the one at `path` mean.
    /// It is labelled with `label`.   Source: HDF5 Dimension Scale Specification.
    void attach_scale(const std::string& path, unsigned dimension, const std::string& scale,
                      const std::string& label);

    /// The complete file, to which nothing can be added any more. Valid as long as the Writer is.
    std::span<const std::byte> finish();

private:
    struct File;
    std::unique_ptr<File> file_;
};

}  // namespace wasp::h5
