#include "heaps.hpp"

#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "mapped_file.hpp"

namespace wasp::h5 {
namespace {

using namespace std::string_view_literals;

// Signature, version, and what is reserved, to which the library does not look: damaged heaps of
// names that are not found so are found by the headers that lead to them.
constexpr auto start_of_local_heap = "HEAP\0\0\0\0"sv;
constexpr auto start_of_global_heap = "GCOL\1"sv;

bool is_sound_global_heap(std::string_view file, std::size_t start) {
    constexpr std::size_t header_bytes = 16, smallest_heap = 4096;
    const auto heap = file.substr(start);
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

/// Calls is_sound(file, place) where `start` stands.
template <class IsSound>
void check_heaps(const File::Source& source, std::string_view start, const char* what,
                 IsSound is_sound) {
    const auto mapped = MappedFile::of(source);
    if (!mapped) return;
    const auto file = mapped->bytes();
    // By its first byte: memmem() looks at pairs of bytes one by one, at a tenth of the speed.
    for (std::size_t at = 0; (at = file.find(start, at)) != file.npos; ++at)
        REQUIRE(is_sound(file, at), "{}: damaged: a heap of {} at byte {}", source.path.string(),
                what, at + mapped->user_block());
}

}  // namespace

bool is_sound_local_heap(std::string_view file, std::uint64_t heap) {
    constexpr std::size_t header_bytes = 32;
    if (heap > file.size() || file.size() - heap < header_bytes) return false;
    const auto size = number_at<std::uint64_t>(file, heap + 8);
    const auto free = number_at<std::uint64_t>(file, heap + 16);
    const auto address = number_at<std::uint64_t>(file, heap + 24);
    const bool has_free = free != 1;  // its mark of none
    return size > 0 && address <= file.size() && size <= file.size() - address &&
           (!has_free || free < size || free == ~std::uint64_t{0});
}

void check_local_heaps(const File::Source& source) {
    check_heaps(source, start_of_local_heap, "names", is_sound_local_heap);
}

void check_global_heaps(const File::Source& source) {
    if (source.heaps_are_sound) return;
    check_heaps(source, start_of_global_heap, "strings", is_sound_global_heap);
    source.heaps_are_sound = true;
}

}  // namespace wasp::h5
