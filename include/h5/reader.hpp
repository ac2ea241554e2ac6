/// Reading HDF5 files that may be foreign, damaged or hostile. What can be known beforehand is
/// checked before memory is taken or data are read; objects are opened by their exact names, the
/// file is never walked, and nothing outside the file is followed (external links, external
/// storage, virtual datasets).
/// Error (of all, unless said): exit code 2, one line: file, object, what is wrong, what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace wasp::h5 {

/// How one number is stored.
struct Element {
    enum class Kind { whole, real, truth };
    Kind kind = Kind::whole;
    std::size_t bytes = 1;  ///< 1, 2, 4 or 8
    bool is_signed = false;
    bool big_endian = false;

    std::string name() const;  ///< as NumPy names it: "uint8", "float32"
};

/// Stored numbers as doubles: exact for reals, and for whole numbers up to 2^53 in size.
/// stored: as long as `values` times element.bytes.
void to_doubles(const Element& element, std::span<const std::byte> stored,
                std::span<double> values);

/// A dataset of numbers whose declaration fits what the file holds. Keeps the file open.
class Array {
public:
    struct Source;  // private to src/h5/
    explicit Array(std::shared_ptr<const Source> source);

    const std::vector<std::size_t>& shape() const;  ///< rank 1 to 8
    const Element& element() const;
    std::size_t size() const;          ///< numbers in all
    std::size_t rows() const;          ///< shape()[0]
    std::size_t row_bytes() const;     ///< stored bytes of one index of the first dimension
    const std::string& where() const;  ///< "FILE: /train/images", to start a message with

    /// The stored bytes of rows [first, first + count).   out: count × row_bytes().
    /// Error: a chunk was never written, is damaged, or does not unpack to exactly its size.
    void read(std::size_t first, std::size_t count, std::span<std::byte> out) const;

    /// So many rows, or a whole number of chunks, are a few MiB.
    std::size_t rows_at_once() const;

    /// Calls use(first row, rows, their stored bytes) for rows [first, first + count) in order,
    /// with a few MiB at a time, so that each chunk is unpacked once.
    void read_in_parts(
        std::size_t first, std::size_t count,
        const std::function<void(std::size_t, std::size_t, std::span<const std::byte>)>& use) const;

    /// All numbers.   Error: more than `limit` of them; or not whole, or out of range.
    std::vector<double> doubles(std::size_t limit = default_limit) const;
    std::vector<float> floats(std::size_t limit = default_limit) const;
    std::vector<std::int64_t> wholes(std::size_t limit = default_limit) const;

    static constexpr std::size_t default_limit = std::size_t{1} << 30U;

private:
    std::shared_ptr<const Source> source_;
};

using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

/// One column of an attribute that is a list of records (compound type): the vector that fits its
/// type is filled.   references: paths of the objects; empty for a null one.
struct Column {
    std::vector<std::string> texts, references;
    std::vector<std::int64_t> wholes;
};

class File {
public:
    struct Source;  // private to src/h5/
    /// Error: missing, a folder, not readable, not HDF5 (with a hint of what it is), truncated, or
    /// being written by another program. A file system without file locks is fine.
    explicit File(const std::filesystem::path& path);

    const std::filesystem::path& path() const;

    /// Whether there is a link of that name: "/train/images".
    bool has(const std::string& name) const;

    /// Error: there is no such object.
    bool is_group(const std::string& name) const;

    /// Names in the root group: the first `limit` of them.
    std::vector<std::string> names(std::size_t limit) const;

    Array array(const std::string& name) const;

    /// An (n) dataset of strings.
    std::vector<std::string> texts(const std::string& name) const;

    // Attributes of the object of that name ("/": the file).
    bool has_attribute(const std::string& object, const std::string& name) const;
    /// A string of fixed length.   Empty: there is none.   Error: something else.
    std::optional<std::string> text(const std::string& object, const std::string& name) const;
    /// One number or several, as doubles.   Empty: there is none.   Error: something else.
    std::optional<std::vector<double>> numbers(const std::string& object,
                                               const std::string& name) const;
    /// Of any kind. Strings of variable length may crash the library (HDF5 1.10) where the file is
    /// damaged: not for files of strangers.
    /// Empty: there is none.   Error: neither a number, a string nor a list of numbers.
    std::optional<Attribute> attribute(const std::string& object, const std::string& name) const;
    std::map<std::string, Attribute> attributes(const std::string& object) const;
    /// By field name, those of `fields` that exist.   Error: not a list of records, or a field of
    /// strings of variable length.
    std::map<std::string, Column> records(const std::string& object, const std::string& name,
                                          std::span<const std::string_view> fields) const;

private:
    std::shared_ptr<const Source> source_;
};

/// Whether `path` is HDF5 that can't be opened, as it was cut off or damaged; or empty.
bool is_broken(const std::filesystem::path& path);

}  // namespace wasp::h5
