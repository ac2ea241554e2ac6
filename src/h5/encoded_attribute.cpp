#include "encoded_attribute.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "encoded_type.hpp"
#include "mapped_file.hpp"

namespace wasp::h5 {
namespace {

/// The bytes of a space full of values of `size` bytes, more than `most` counting as one more.
/// Nothing where the space is cut short.   space: version, rank, flags, kind (version 2; 2: holds
/// nothing) or five reserved bytes, and 8 bytes an axis.
std::optional<std::size_t> bytes_of_values(std::string_view space, std::size_t size,
                                           std::size_t most) {
    constexpr std::size_t head_old = 8, head_new = 4, axis = 8, nothing = 2;
    if (space.size() < head_new) return std::nullopt;
    const bool is_old = byte_at(space, 0) < 2;
    const std::size_t rank = byte_at(space, 1), head = is_old ? head_old : head_new;
    if (space.size() < head + axis * rank) return std::nullopt;
    if (!is_old && byte_at(space, 3) == nothing) return 0;
    const auto capped = [most](std::uint64_t count) {
        return std::min<std::size_t>(count, most + 1);
    };
    size = capped(size);
    for (std::size_t i = 0; i < rank; ++i)
        size = capped(size * capped(number_at<std::uint64_t>(space, head + axis * i)));
    return size;
}

}  // namespace

bool attribute_fits(std::string_view message,
                    const std::function<std::string_view(std::string_view)>& type_elsewhere) {
    // Version, flags (1: the type stands elsewhere, 2: the space), sizes of name, type and space;
    // from version 3 on a byte more. In version 1 the parts are filled up to 8 bytes.
    constexpr std::size_t head = 8;
    if (message.size() < head) return true;  // the library refuses it
    const std::size_t version = byte_at(message, 0);
    const std::size_t flags = version > 1 ? byte_at(message, 1) : 0;
    auto rest = message.substr(head);
    if (version >= 3 && !rest.empty()) rest.remove_prefix(1);
    const auto part = [&](std::size_t place) -> std::optional<std::string_view> {
        const std::size_t size = number_at<std::uint16_t>(message, place);
        const std::size_t filled = version == 1 ? (size + 7) / 8 * 8 : size;
        if (filled > rest.size()) return std::nullopt;
        const auto bytes = rest.substr(0, size);
        rest.remove_prefix(filled);
        return bytes;
    };
    const auto name = part(2);
    const auto from_type = rest;  // a type is read to its own end
    const auto type = name ? part(4) : std::nullopt, space = type ? part(6) : std::nullopt;
    if (!space || name->empty() || name->back() != '\0') return false;
    const bool is_elsewhere = (flags & 1U) != 0, is_space_elsewhere = (flags & 2U) != 0;
    const auto found = is_elsewhere ? type_elsewhere(*type) : from_type;
    constexpr std::size_t size_at = 4;
    if (!fits(found) || is_space_elsewhere) return false;
    const auto bytes =
        bytes_of_values(*space, number_at<std::uint32_t>(found, size_at), rest.size());
    return bytes && *bytes <= rest.size();
}

}  // namespace wasp::h5
