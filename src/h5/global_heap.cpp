#include "global_heap.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.hpp"

namespace wasp::h5 {
namespace {

using namespace std::string_view_literals;

constexpr auto start_of_heap = "GCOL\1\0\0\0"sv;  // signature, version, reserved
constexpr std::size_t header_bytes = 16, smallest_heap = 4096;

/// The bytes of a file, read-only.
class MappedFile {
public:
    MappedFile(const std::filesystem::path& path, std::size_t size) : size_(size) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file >= 0) start_ = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (file >= 0) close(file);
        ENSURE(start_ != MAP_FAILED, "{}: can't be mapped into memory", path.string());
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile() { munmap(start_, size_); }

    std::string_view bytes() const { return {static_cast<const char*>(start_), size_}; }

private:
    void* start_ = MAP_FAILED;
    std::size_t size_;
};

template <class Number>
Number number_at(std::string_view bytes, std::size_t place) {
    Number number = 0;
    std::memcpy(&number, bytes.data() + place, sizeof number);
    return number;
}

/// heap: from its signature to the end of the file.
bool is_sound(std::string_view heap) {
    if (heap.size() < header_bytes) return false;
    const auto size = number_at<std::uint64_t>(heap, 8);
    if (size < smallest_heap || size > heap.size()) return false;
    for (std::size_t at = header_bytes; at + header_bytes <= size;) {
        const auto index = number_at<std::uint16_t>(heap, at);
        const auto content = number_at<std::uint64_t>(heap, at + 8);
        if (content > size) return false;
        // Index 0 is what is free, header included; objects are filled up to 8 bytes.
        const std::size_t bytes = index == 0 ? content : header_bytes + (content + 7) / 8 * 8;
        if (bytes < header_bytes || bytes > size - at) return false;
        at += bytes;
    }
    return true;
}

}  // namespace

void check_global_heaps(const File::Source& source) {
    constexpr std::size_t most = std::size_t{1} << 30U;
    if (source.heaps_are_sound || source.bytes > most) return;
    const Handle creation(H5Fget_create_plist(source.file.get()), H5Pclose);
    std::size_t address_bytes = 0, length_bytes = 0;
    H5Pget_sizes(creation.get(), &address_bytes, &length_bytes);
    if (length_bytes != sizeof(std::uint64_t)) return;  // not since the 1990s
    const MappedFile file(source.path, source.bytes);
    for (std::size_t at = 0; (at = file.bytes().find(start_of_heap, at)) != std::string_view::npos;
         ++at)
        REQUIRE(is_sound(file.bytes().substr(at)), "{}: damaged: a heap of strings at byte {}",
                source.path.string(), at);
    source.heaps_are_sound = true;
}

}  // namespace wasp::h5
