#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "source.hpp"

namespace wasp::h5 {

namespace {

/// IEEE binary16: h5py's float16.
Handle half_type(hid_t single) {
    Handle half(H5Tcopy(single), H5Tclose);
    H5Tset_fields(half.get(), 15, 10, 5, 0, 10);
    H5Tset_size(half.get(), 2);
    H5Tset_ebias(half.get(), 15);
    return half;
}

bool is_real(hid_t type, std::size_t bytes, bool big_endian) {
    const hid_t single = big_endian ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
    if (bytes == 2) return H5Tequal(type, half_type(single).get()) > 0;
    if (bytes == 4) return H5Tequal(type, single) > 0;
    return bytes == 8 && H5Tequal(type, big_endian ? H5T_IEEE_F64BE : H5T_IEEE_F64LE) > 0;
}

/// h5py's bool: an enum of FALSE = 0 and TRUE = 1.
bool is_truth(hid_t type) {
    if (H5Tget_nmembers(type) != 2) return false;
    const auto is = [type](unsigned index, std::string_view wanted) {
        char* name = H5Tget_member_name(type, index);
        const bool same = name != nullptr && wanted == name;
        H5free_memory(name);
        return same;
    };
    return is(0, "FALSE") && is(1, "TRUE");
}

double half_value(std::uint16_t bits) {
    const int exponent = (bits >> 10U) & 31U;
    const double fraction = bits & 1023U;
    double size = std::ldexp(fraction + (exponent > 0 ? 1024 : 0), std::max(exponent, 1) - 25);
    if (exponent == 31)
        size = fraction == 0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    return (bits >> 15U) != 0 ? -size : size;
}

template <class Bits>
Bits swapped(Bits bits) {
    if constexpr (sizeof(Bits) == 1) return bits;
    if constexpr (sizeof(Bits) == 2) return __builtin_bswap16(bits);
    if constexpr (sizeof(Bits) == 4) return __builtin_bswap32(bits);
    if constexpr (sizeof(Bits) == 8) return __builtin_bswap64(bits);
}

/// values[i] = meaning(bits of number i).
template <class Bits, class Meaning>
void convert(bool big_endian, std::span<const std::byte> stored, std::span<double> values,
             Meaning meaning) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        Bits bits{};
        std::memcpy(&bits, stored.data() + i * sizeof(Bits), sizeof(Bits));
        values[i] = static_cast<double>(meaning(big_endian ? swapped(bits) : bits));
    }
}

template <class Signed, class Unsigned>
void convert_whole(const Element& element, std::span<const std::byte> stored,
                   std::span<double> values) {
    if (element.is_signed)
        convert<Unsigned>(element.big_endian, stored, values,
                          [](Unsigned bits) { return std::bit_cast<Signed>(bits); });
    else
        convert<Unsigned>(element.big_endian, stored, values, [](Unsigned bits) { return bits; });
}

}  // namespace

std::string Element::name() const {
    if (kind == Kind::truth) return "bool";
    return fmt::format("{}{}{}", big_endian ? "big-endian " : "",
                       kind == Kind::real ? "float" : (is_signed ? "int" : "uint"), bytes * 8);
}

void to_doubles(const Element& element, std::span<const std::byte> stored,
                std::span<double> values) {
    ASSERT(stored.size() == values.size() * element.bytes, "{} bytes", stored.size());
    const bool real = element.kind == Element::Kind::real;
    const bool big = element.big_endian;
    switch (element.bytes) {
        case 1:
            return convert_whole<std::int8_t, std::uint8_t>(element, stored, values);
        case 2:
            if (real) return convert<std::uint16_t>(big, stored, values, half_value);
            return convert_whole<std::int16_t, std::uint16_t>(element, stored, values);
        case 4:
            if (real)
                return convert<std::uint32_t>(big, stored, values, [](std::uint32_t bits) {
                    return std::bit_cast<float>(bits);
                });
            return convert_whole<std::int32_t, std::uint32_t>(element, stored, values);
        default:
            if (real)
                return convert<std::uint64_t>(big, stored, values, [](std::uint64_t bits) {
                    return std::bit_cast<double>(bits);
                });
            return convert_whole<std::int64_t, std::uint64_t>(element, stored, values);
    }
}

std::optional<Element> element_of(hid_t type) {
    const auto kind = H5Tget_class(type);
    if (kind == H5T_ENUM) {
        const Handle base(H5Tget_super(type), H5Tclose);
        auto element = element_of(base.get());
        if (element && is_truth(type)) element->kind = Element::Kind::truth;
        return element;
    }
    Element element;
    element.bytes = H5Tget_size(type);
    const auto order = element.bytes == 1 ? H5T_ORDER_LE : H5Tget_order(type);
    element.big_endian = order == H5T_ORDER_BE;
    if (kind == H5T_FLOAT) {
        element.kind = Element::Kind::real;
        element.is_signed = true;
        if (is_real(type, element.bytes, element.big_endian)) return element;
    }
    if (kind == H5T_INTEGER) {
        element.is_signed = H5Tget_sign(type) == H5T_SGN_2;
        const bool whole_bytes = std::has_single_bit(element.bytes) && element.bytes <= 8 &&
                                 H5Tget_precision(type) == element.bytes * 8;
        if (whole_bytes && (order == H5T_ORDER_LE || order == H5T_ORDER_BE)) return element;
    }
    return std::nullopt;
}

std::string type_name(hid_t type) {
    switch (H5Tget_class(type)) {
        case H5T_STRING:
            return "text";
        case H5T_COMPOUND:
            return "records (compound type; complex numbers are such)";
        case H5T_REFERENCE:
            return "references";
        case H5T_OPAQUE:
            return "opaque bytes";
        case H5T_VLEN:
            return "lists of variable length (encoded images?)";
        case H5T_ARRAY:
            return "arrays";
        case H5T_BITFIELD:
            return "bit fields";
        case H5T_TIME:
            return "times";
        default:
            return "numbers of an unusual format";
    }
}

}  // namespace wasp::h5
