/// Private to src/data/: a file of bytes, plain or gzipped, which is decided by content.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

struct gzFile_s;

namespace wasp {

class PackedFile {
public:
    /// Error: missing, a folder, not readable, or empty.
    explicit PackedFile(const std::filesystem::path& path);

    const std::string& name() const { return name_; }
    bool gzipped() const { return gzipped_; }

    /// Bytes of the file itself.
    std::size_t file_bytes() const { return file_bytes_; }

    /// No more bytes than this can come out of it: its size, or what gzip can pack into that.
    std::size_t most_bytes() const;

    /// As many bytes as are left, at most bytes.size().   Error: damaged or cut off.
    std::size_t read(std::span<std::byte> bytes);

    /// Error: fewer are left ("WHAT: expected … bytes"), or damaged.
    void read_all_of(std::span<std::byte> bytes, const std::string& what);

    /// Error: bytes are left, or gzip's checksum at the end is wrong.
    void expect_end();

private:
    std::string name_;
    std::size_t file_bytes_ = 0;
    bool gzipped_ = false;
    std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
};

}  // namespace wasp
