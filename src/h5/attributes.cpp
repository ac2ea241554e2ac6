#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "failure.hpp"
#include "heaps.hpp"
#include "source.hpp"

namespace wasp::h5 {

namespace {

constexpr std::size_t largest_attribute = std::size_t{1} << 20U;  // bytes

using Object = std::shared_ptr<const Handle>;  // opening one takes longer than reading from it

struct OpenAttribute {
    Object object;
    Handle attribute, type, space;
    std::string where;
    std::size_t count = 0;  ///< values
    std::size_t bytes() const { return count * H5Tget_size(type.get()); }

    void read(hid_t as, void* into) const {
        REQUIRE(H5Aread(attribute.get(), as, into) >= 0, "{}: can't be read: {}", where,
                library_reason());
    }
};

/// path: of the object.   Empty: there is none of that name.
std::optional<OpenAttribute> open_attribute(const File::Source& source, const Object& object,
                                            const std::string& path, const std::string& name) {
    OpenAttribute open;
    open.object = object;
    open.where = fmt::format("{}: attribute '{}'", source.where(path), name);
    if (H5Aexists(object->get(), name.c_str()) <= 0) return std::nullopt;
    open.attribute = Handle(H5Aopen(object->get(), name.c_str(), H5P_DEFAULT), H5Aclose);
    REQUIRE(open.attribute, "{}: can't be opened: {}", open.where, library_reason());
    open.type = Handle(H5Aget_type(open.attribute.get()), H5Tclose);
    if (H5Tis_variable_str(open.type.get()) > 0 || H5Tget_class(open.type.get()) == H5T_COMPOUND)
        check_global_heaps(source);
    open.space = Handle(H5Aget_space(open.attribute.get()), H5Sclose);
    const auto count = H5Sget_simple_extent_npoints(open.space.get());
    open.count = static_cast<std::size_t>(std::max<hssize_t>(count, 0));
    REQUIRE(open.count <= largest_attribute && open.bytes() <= largest_attribute,
            "{}: is larger than {} bytes", open.where, largest_attribute);
    return open;
}

std::optional<OpenAttribute> open_attribute(const File::Source& source, const std::string& path,
                                            const std::string& name) {
    return open_attribute(source, std::make_shared<Handle>(open_object(source, path)), path, name);
}

/// values: strings one after the other as the type says, in memory of the library's where variable.
std::vector<std::string> split_texts(hid_t type, std::size_t count, const std::byte* values) {
    std::vector<std::string> texts;
    const std::size_t length = H5Tget_size(type);
    for (std::size_t i = 0; i < count; ++i, values += length) {
        if (H5Tis_variable_str(type) > 0) {
            const char* text = nullptr;
            std::memcpy(&text, values, sizeof text);
            texts.emplace_back(text == nullptr ? "" : text);
        } else {
            const std::string_view text(reinterpret_cast<const char*>(values), length);
            texts.emplace_back(text.substr(0, text.find('\0')));
        }
    }
    for (auto& text : texts)  // padding of Fortran's and of h5py's fixed strings
        while (!text.empty() && text.back() == ' ') text.pop_back();
    return texts;
}

std::vector<std::string> read_texts(const OpenAttribute& open) {
    std::vector<std::byte> values(open.bytes());
    open.read(open.type.get(), values.data());
    auto texts = split_texts(open.type.get(), open.count, values.data());
    if (H5Tis_variable_str(open.type.get()) > 0)
        H5Dvlen_reclaim(open.type.get(), open.space.get(), H5P_DEFAULT, values.data());
    return texts;
}

std::int64_t whole_number(const OpenAttribute& open, double number) {
    REQUIRE(std::trunc(number) == number && std::abs(number) < 0x1p63,
            "{}: {} is not a whole number of 64 bits", open.where, number);
    return static_cast<std::int64_t>(number);
}

Element number_type(const OpenAttribute& open) {
    const auto element = element_of(open.type.get());
    REQUIRE(element, "{}: expected numbers, found {}", open.where, type_name(open.type.get()));
    return *element;
}

std::vector<double> read_doubles(const OpenAttribute& open, const Element& element) {
    std::vector<std::byte> stored(open.bytes());
    open.read(open.type.get(), stored.data());
    std::vector<double> values(open.count);
    to_doubles(element, stored, values);
    return values;
}

Attribute read_numbers(const OpenAttribute& open, const Element& element) {
    const auto values = read_doubles(open, element);
    if (H5Sget_simple_extent_type(open.space.get()) != H5S_SCALAR) return values;
    if (element.kind == Element::Kind::truth) return values[0] != 0;
    if (element.kind == Element::Kind::real) return values[0];
    std::int64_t whole = 0;  // not by way of double, which has 53 bits
    open.read(H5T_NATIVE_INT64, &whole);
    return whole;
}

Attribute read_attribute(const OpenAttribute& open) {
    REQUIRE(open.count > 0, "{}: is empty", open.where);
    if (H5Tget_class(open.type.get()) == H5T_STRING) {
        auto texts = read_texts(open);
        REQUIRE(texts.size() == 1, "{}: expected one string, found {}", open.where, texts.size());
        return texts[0];
    }
    return read_numbers(open, number_type(open));
}

/// The type of a list of records that can be taken apart by offsets.   Error: it can't.
void check_record_type(const OpenAttribute& open) {
    const hid_t records = open.type.get();
    const std::size_t bytes = H5Tget_size(records);
    for (unsigned i = 0; i < static_cast<unsigned>(H5Tget_nmembers(records)); ++i) {
        const Handle field(H5Tget_member_type(records, i), H5Tclose);
        REQUIRE(field && H5Tdetect_class(field.get(), H5T_VLEN) <= 0 &&
                    H5Tis_variable_str(field.get()) <= 0,
                "{}: expected fields of fixed length", open.where);
        const std::size_t offset = H5Tget_member_offset(records, i);
        REQUIRE(offset <= bytes && H5Tget_size(field.get()) <= bytes - offset,
                "{}: damaged: a field beyond its record", open.where);
    }
}

/// One field of records that lie in memory as in the file: libhdf5 1.10 does not survive the
/// conversion of types that are damaged.
Column read_column(const OpenAttribute& open, std::span<const std::byte> records, unsigned member) {
    const Handle field(H5Tget_member_type(open.type.get(), member), H5Tclose);
    const std::size_t bytes = H5Tget_size(field.get());
    const std::size_t offset = H5Tget_member_offset(open.type.get(), member);
    const std::size_t step = H5Tget_size(open.type.get());
    std::vector<std::byte> values;
    for (std::size_t i = 0; i < open.count; ++i) {
        const auto value = records.subspan(i * step + offset, bytes);
        values.insert(values.end(), value.begin(), value.end());
    }

    Column column;
    const auto kind = H5Tget_class(field.get());
    const auto element = element_of(field.get());
    if (kind == H5T_STRING) {
        column.texts = split_texts(field.get(), open.count, values.data());
    } else if (element) {
        std::vector<double> numbers(open.count);
        to_doubles(*element, values, numbers);
        for (const double number : numbers) column.wholes.push_back(whole_number(open, number));
    } else if (kind == H5T_REFERENCE && H5Tequal(field.get(), H5T_STD_REF_OBJ) > 0) {
        for (std::size_t i = 0; i < open.count; ++i) {
            std::array<char, 512> path{};
            const auto length = H5Rget_name(open.object->get(), H5R_OBJECT, &values[i * bytes],
                                            path.data(), path.size());
            column.references.emplace_back(length > 0 ? path.data() : "");
        }
    }
    return column;
}

}  // namespace

bool File::has_attribute(const std::string& object, const std::string& name) const {
    const Handle opened = open_object(*source_, object);
    return H5Aexists(opened.get(), name.c_str()) > 0;
}

std::optional<std::string> File::text(const std::string& object, const std::string& name) const {
    const auto open = open_attribute(*source_, object, name);
    if (!open) return std::nullopt;
    const bool fixed =
        H5Tget_class(open->type.get()) == H5T_STRING && H5Tis_variable_str(open->type.get()) == 0;
    REQUIRE(fixed && open->count == 1, "{}: expected one string of fixed length", open->where);
    return read_texts(*open)[0];
}

std::optional<std::vector<double>> File::numbers(const std::string& object,
                                                 const std::string& name) const {
    const auto open = open_attribute(*source_, object, name);
    if (!open) return std::nullopt;
    return read_doubles(*open, number_type(*open));
}

std::optional<Attribute> File::attribute(const std::string& object, const std::string& name) const {
    const auto open = open_attribute(*source_, object, name);
    if (!open) return std::nullopt;
    return read_attribute(*open);
}

std::map<std::string, Attribute> File::attributes(const std::string& object) const {
    constexpr std::size_t most = 10'000;
    const auto opened = std::make_shared<Handle>(open_object(*source_, object));
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* into) -> herr_t {
        auto& known = *static_cast<std::vector<std::string>*>(into);
        known.emplace_back(name);
        return known.size() < most ? 0 : 1;
    };
    H5Aiterate2(opened->get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &names);
    std::map<std::string, Attribute> all;
    for (const auto& name : names)
        if (const auto open = open_attribute(*source_, opened, object, name))
            all.emplace(name, read_attribute(*open));
    return all;
}

std::map<std::string, Column> File::records(const std::string& object, const std::string& name,
                                            std::span<const std::string_view> fields) const {
    const auto open = open_attribute(*source_, object, name);
    REQUIRE(open && H5Tget_class(open->type.get()) == H5T_COMPOUND,
            "{}: expected an attribute '{}' that is a list of records", source_->where(object),
            name);
    check_record_type(*open);
    std::vector<std::byte> stored(open->bytes());
    open->read(open->type.get(), stored.data());
    std::map<std::string, Column> columns;
    for (const auto field : fields) {
        const std::string key(field);
        const int member = H5Tget_member_index(open->type.get(), key.c_str());
        if (member < 0) continue;
        columns.emplace(key, read_column(*open, stored, static_cast<unsigned>(member)));
    }
    return columns;
}

}  // namespace wasp::h5
