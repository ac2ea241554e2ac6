#include "encoded_type.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mapped_file.hpp"

namespace wasp::h5 {
namespace {

constexpr int deepest = 32;  // types within types

/// What is left of the bytes behind something; nothing where it does not fit.
using Rest = std::optional<std::string_view>;

Rest behind(Rest bytes, std::size_t count) {
    if (!bytes || count > bytes->size()) return std::nullopt;
    return bytes->substr(count);
}

/// A name ends with a zero byte; before version 3 names are filled up to 8 bytes.
Rest behind_name(Rest bytes, unsigned version) {
    if (!bytes) return std::nullopt;
    const auto end = bytes->find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    return behind(bytes, version < 3 ? (end + 8) / 8 * 8 : end + 1);
}

Rest behind_type(Rest bytes, int depth);

Rest behind_members(Rest rest, unsigned version, std::size_t count, std::size_t size, int depth) {
    std::size_t place_bytes = 4;  // of where a member lies in a record
    if (version >= 3)
        place_bytes = size < 1U << 8U ? 1 : size < 1U << 16U ? 2 : size < 1U << 24U ? 3 : 4;
    constexpr std::size_t dimensions = 28;  // in version 1: of members that are lists
    for (std::size_t i = 0; i < count && rest; ++i) {
        rest = behind(behind_name(rest, version), place_bytes + (version == 1 ? dimensions : 0));
        rest = behind_type(rest, depth);
    }
    return rest;
}

/// Also the values are as many bytes as the type says that they are.
Rest behind_enumeration(std::string_view base, unsigned version, std::size_t count,
                        std::size_t size, int depth) {
    Rest rest = behind_type(base, depth);
    if (!rest || number_at<std::uint32_t>(base, 4) != size) return std::nullopt;
    for (std::size_t i = 0; i < count && rest; ++i) rest = behind_name(rest, version);
    return behind(rest, count * size);
}

Rest behind_list(std::string_view rest, unsigned version, int depth) {
    if (rest.empty()) return std::nullopt;
    const std::size_t rank = number_at<std::uint8_t>(rest, 0);
    return behind_type(behind(rest, version < 3 ? 4 + 8 * rank : 1 + 4 * rank), depth);
}

Rest behind_type(Rest bytes, int depth) {
    enum : unsigned {
        whole,
        real,
        time,
        text,
        bits,
        opaque,
        record,
        reference,
        enumeration,
        variable,
        list
    };
    constexpr std::size_t head = 8;
    const Rest rest = behind(bytes, head);
    if (!rest || depth == deepest) return std::nullopt;
    const unsigned kind = number_at<std::uint8_t>(*bytes, 0) % 16U;
    const unsigned version = number_at<std::uint8_t>(*bytes, 0) / 16U;
    const std::size_t flags = number_at<std::uint16_t>(*bytes, 1);
    const std::size_t size = number_at<std::uint32_t>(*bytes, 4);
    switch (kind) {
        case whole:
        case bits:
            return behind(rest, 4);
        case real:
            return behind(rest, 12);
        case time:
            return behind(rest, 2);
        case opaque:  // its tag
            return behind(rest, flags % 256);
        case record:
            return behind_members(rest, version, flags, size, depth + 1);
        case enumeration:
            return behind_enumeration(*rest, version, flags, size, depth + 1);
        case variable:
            return behind_type(rest, depth + 1);
        case list:
            return behind_list(*rest, version, depth + 1);
        default:
            return rest;
    }
}

}  // namespace

bool fits(std::string_view bytes) {
    return behind_type(bytes, 0).has_value();
}

}  // namespace wasp::h5
