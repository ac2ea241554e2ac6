#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "failure.hpp"
#include "filters.hpp"
#include "source.hpp"

namespace wasp::h5 {

namespace {

using Dimensions = std::vector<std::size_t>;

constexpr int largest_rank = 8;
constexpr std::size_t largest_chunk = std::size_t{64} << 20U;  // bytes, of compressed ones
constexpr std::size_t best_ratio = 1100;                   // gzip packs at most 1032 bytes into one
constexpr std::size_t part_bytes = std::size_t{4} << 20U;  // for read_in_parts()

/// first · dimensions[0] · …; empty: more than 64 bits hold.
std::optional<std::size_t> product(std::size_t first, const Dimensions& dimensions) {
    std::size_t all = first;
    for (const std::size_t dimension : dimensions)
        if (__builtin_mul_overflow(all, dimension, &all)) return std::nullopt;
    return all;
}

std::vector<hsize_t> as_hsize(const Dimensions& dimensions) {
    return {dimensions.begin(), dimensions.end()};
}

/// A chunk as it is stored.   skipped: bit i means that filter i was not applied.
struct Packed {
    std::uint32_t skipped = 0;
    std::vector<std::byte> bytes;
};

}  // namespace

struct Array::Source {
    std::shared_ptr<const File::Source> file;
    Handle dataset, type;
    std::string where;
    Element element;
    Dimensions shape, chunk;  ///< chunk: empty unless there are filters
    std::optional<Filters> filters;
    std::size_t size = 0, row_bytes = 0, chunk_bytes = 0;

    void check_chunks(hid_t creation_properties, hid_t space);
    void read_by_library(std::size_t first, std::size_t count, std::byte* out) const;
    Packed packed_chunk(const Dimensions& offset) const;
    template <class Use>
    void for_each_chunk(std::size_t first, std::size_t count, Use use) const;
    void read_chunks(std::size_t first, std::size_t count, std::byte* out) const;
    void read(std::size_t first, std::size_t count, std::byte* out) const;
    void place(const Dimensions& offset, std::size_t first, std::size_t count,
               std::span<const std::byte> bytes, std::byte* out) const;
};

void Array::Source::check_chunks(hid_t creation_properties, hid_t space) {
    filters.emplace(creation_properties, where);
    std::vector<hsize_t> sides(shape.size());
    H5Pget_chunk(creation_properties, static_cast<int>(sides.size()), sides.data());
    const Dimensions chunk_shape(sides.begin(), sides.end());
    const auto bytes = product(element.bytes, chunk_shape);
    REQUIRE(bytes && *bytes > 0, "{}: its chunks are impossibly large", where);
    chunk_bytes = *bytes;

    Dimensions grid;
    for (std::size_t i = 0; i < shape.size(); ++i)
        grid.push_back((shape[i] + chunk_shape[i] - 1) / chunk_shape[i]);
    const auto chunks = product(1, grid);
    const auto padded = product(chunk_bytes, grid);  // whole chunks, also at the edges
    constexpr std::size_t index_entry = 8;  // bytes of the file that each chunk takes at least
    const std::size_t stored = H5Dget_storage_size(dataset.get());
    hsize_t written = 0;
    const bool possible = padded && *chunks <= file->bytes / index_entry && stored <= file->bytes;
    if (possible) H5Dget_num_chunks(dataset.get(), space, &written);
    REQUIRE(possible && written == *chunks,
            "{}: declares more data than the file holds (data were never written, or the file is "
            "damaged)",
            where);

    if (filters->none()) {
        REQUIRE(stored == *padded, "{}: damaged: chunks of a wrong size", where);
        return;
    }
    REQUIRE(chunk_bytes <= largest_chunk,
            "{}: compressed in chunks of {} MiB, at most {} are read; write it again with smaller "
            "ones (h5repack -l CHUNK=…)",
            where, chunk_bytes >> 20U, largest_chunk >> 20U);
    const std::size_t ratio = filters->compressing() ? best_ratio : 1;
    REQUIRE(*padded / ratio <= stored,
            "{}: declares {} bytes, more than its {} stored ones can hold", where,
            size * element.bytes, stored);
    chunk = chunk_shape;
    if (!filters->ours()) filters->check_library_filters(chunk_bytes, element.bytes);
}

void Array::Source::read_by_library(std::size_t first, std::size_t count, std::byte* out) const {
    std::vector<hsize_t> start(shape.size());
    auto extent = as_hsize(shape);
    start[0] = first;
    extent[0] = count;
    const Handle there(H5Dget_space(dataset.get()), H5Sclose);
    const Handle here(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                      H5Sclose);
    H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
    REQUIRE(H5Dread(dataset.get(), type.get(), here.get(), there.get(), H5P_DEFAULT, out) >= 0,
            "{}: can't be read: {}", where, library_reason());
}

Packed Array::Source::packed_chunk(const Dimensions& offset) const {
    const auto corner = as_hsize(offset);
    unsigned skipped = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t stored = 0;
    const bool found =
        H5Dget_chunk_info_by_coord(dataset.get(), corner.data(), &skipped, &address, &stored) >= 0;
    REQUIRE(found && address != HADDR_UNDEF, "{}: a part of it was never written", where);
    // What does not shrink is stored as it is, so that more than this is a fault.
    REQUIRE(stored <= 2 * chunk_bytes + 1024, "{}: damaged: a chunk of {} bytes", where, stored);
    Packed packed{0, std::vector<std::byte>(stored)};
    REQUIRE(H5Dread_chunk(dataset.get(), H5P_DEFAULT, corner.data(), &packed.skipped,
                          packed.bytes.data()) >= 0,
            "{}: can't be read: {}", where, library_reason());
    return packed;
}

/// The part of a chunk that lies within the array and the wanted rows, to its place in `out`.
void Array::Source::place(const Dimensions& offset, std::size_t first, std::size_t count,
                          std::span<const std::byte> bytes, std::byte* out) const {
    const std::size_t rank = shape.size();
    Dimensions low = offset;  // in the array; [low, high) is copied
    Dimensions high;
    for (std::size_t i = 0; i < rank; ++i) high.push_back(std::min(offset[i] + chunk[i], shape[i]));
    low[0] = std::max(low[0], first);
    high[0] = std::min(high[0], first + count);

    const std::size_t run = (high[rank - 1] - low[rank - 1]) * element.bytes;
    for (Dimensions at = low;;) {
        std::size_t from = 0;
        std::size_t to = 0;
        for (std::size_t i = 0; i < rank; ++i) {
            from = from * chunk[i] + (at[i] - offset[i]);
            to = to * shape[i] + (i == 0 ? at[i] - first : at[i]);
        }
        std::memcpy(out + to * element.bytes, bytes.data() + from * element.bytes, run);
        std::size_t i = rank - 1;
        while (i > 0 && ++at[i - 1] == high[i - 1]) {
            at[i - 1] = low[i - 1];
            --i;
        }
        if (i == 0) return;
    }
}

/// Calls use(offset) for the corner of each chunk that holds some of the rows.
template <class Use>
void Array::Source::for_each_chunk(std::size_t first, std::size_t count, Use use) const {
    Dimensions offset(shape.size());
    for (offset[0] = first / chunk[0] * chunk[0]; offset[0] < first + count;) {
        use(offset);
        std::size_t i = shape.size();
        while (--i > 0) {  // the next chunk along the last dimension that has one
            offset[i] += chunk[i];
            if (offset[i] < shape[i]) break;
            offset[i] = 0;
        }
        if (i == 0) offset[0] += chunk[0];
    }
}

void Array::Source::read_chunks(std::size_t first, std::size_t count, std::byte* out) const {
    std::vector<std::byte> bytes(chunk_bytes);
    for_each_chunk(first, count, [&](const Dimensions& offset) {
        const auto packed = packed_chunk(offset);
        filters->unpack(packed.bytes, packed.skipped, bytes);
        place(offset, first, count, bytes, out);
    });
}

void Array::Source::read(std::size_t first, std::size_t count, std::byte* out) const {
    if (chunk.empty()) return read_by_library(first, count, out);
    if (filters->ours()) return read_chunks(first, count, out);
    for_each_chunk(first, count, [&](const Dimensions& offset) {
        const auto packed = packed_chunk(offset);
        filters->check_library_chunk(packed.bytes, packed.skipped, chunk_bytes);
    });
    read_by_library(first, count, out);
}

Array File::array(const std::string& name) const {
    auto array = std::make_shared<Array::Source>();
    array->file = source_;
    array->where = source_->where(name);
    array->dataset = open_dataset(*source_, name);
    const auto& where = array->where;
    const hid_t dataset = array->dataset.get();

    // Virtual ones first: with one that maps onto itself most calls crash.
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
    const auto layout = H5Pget_layout(properties.get());
    REQUIRE(layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED || layout == H5D_COMPACT,
            "{}: is a virtual dataset, whose data are elsewhere; copy the data into one file",
            where);
    REQUIRE(H5Pget_external_count(properties.get()) <= 0,
            "{}: its data are in another file, which is not followed; copy them into one file",
            where);

    array->type = Handle(H5Dget_type(dataset), H5Tclose);
    const auto element = element_of(array->type.get());
    REQUIRE(element, "{}: expected numbers, found {}", where, type_name(array->type.get()));
    array->element = *element;

    const Handle space(H5Dget_space(dataset), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    REQUIRE(rank >= 1, "{}: is a single value, expected an array", where);
    REQUIRE(rank <= largest_rank, "{}: has {} dimensions, at most {} are read", where, rank,
            largest_rank);
    std::vector<hsize_t> sides(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), sides.data(), nullptr);
    array->shape.assign(sides.begin(), sides.end());

    // The product without zeros, so that no order of the dimensions hides an overflow.
    Dimensions positive = array->shape;
    for (auto& side : positive) side = std::max<std::size_t>(side, 1);
    const auto bytes = product(element->bytes, positive);
    REQUIRE(bytes, "{}: declares more bytes than 64 bits can count", where);
    const auto zero = std::ranges::find(array->shape, std::size_t{0});
    if (zero != array->shape.end()) return Array(array);
    array->size = *bytes / element->bytes;
    array->row_bytes = *bytes / array->shape[0];

    if (layout == H5D_CHUNKED) {
        array->check_chunks(properties.get(), space.get());
    } else {
        const std::size_t stored = H5Dget_storage_size(dataset);
        const bool there = layout == H5D_COMPACT || H5Dget_offset(dataset) != HADDR_UNDEF;
        REQUIRE(stored > 0 && there, "{}: was never written", where);
        REQUIRE(stored == *bytes && stored <= source_->bytes,
                "{}: declares {} bytes, but {} are stored", where, *bytes, stored);
    }
    return Array(array);
}

Array::Array(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

const std::vector<std::size_t>& Array::shape() const {
    return source_->shape;
}

const Element& Array::element() const {
    return source_->element;
}

std::size_t Array::size() const {
    return source_->size;
}

std::size_t Array::rows() const {
    return source_->shape[0];
}

std::size_t Array::row_bytes() const {
    return source_->row_bytes;
}

const std::string& Array::where() const {
    return source_->where;
}

void Array::read(std::size_t first, std::size_t count, std::span<std::byte> out) const {
    ENSURE(first + count <= rows() && out.size() == count * row_bytes(), "bug: {}: rows {} + {}",
           where(), first, count);
    if (count == 0 || size() == 0) return;
    source_->read(first, count, out.data());
}

std::size_t Array::rows_at_once() const {
    const std::size_t chunk = source_->chunk.empty() ? 1 : source_->chunk[0];
    const std::size_t fitting = part_bytes / std::max<std::size_t>(row_bytes(), 1);
    return std::max(chunk, fitting / chunk * chunk);
}

void Array::read_in_parts(
    std::size_t first, std::size_t count,
    const std::function<void(std::size_t, std::size_t, std::span<const std::byte>)>& use) const {
    const std::size_t step = rows_at_once();
    std::vector<std::byte> part(std::min(step, count) * row_bytes());
    for (std::size_t row = first; row < first + count;) {
        const std::size_t next = std::min((row / step + 1) * step, first + count);
        const auto bytes = std::span(part).first((next - row) * row_bytes());
        read(row, next - row, bytes);
        use(row, next - row, bytes);
        row = next;
    }
}

std::vector<double> Array::doubles(std::size_t limit) const {
    REQUIRE(size() <= limit, "{}: {} numbers, at most {} are read", where(), size(), limit);
    std::vector<std::byte> stored(size() * element().bytes);
    read(0, size() > 0 ? rows() : 0, stored);
    std::vector<double> values(size());
    to_doubles(element(), stored, values);
    return values;
}

std::vector<float> Array::floats(std::size_t limit) const {
    const auto values = doubles(limit);
    std::vector<float> floats(values.size());
    std::ranges::transform(values, floats.begin(), [](double v) { return static_cast<float>(v); });
    return floats;
}

std::vector<std::int64_t> Array::wholes(std::size_t limit) const {
    const auto values = doubles(limit);
    constexpr double exact = 0x1p53;
    std::vector<std::int64_t> wholes;
    wholes.reserve(values.size());
    for (const double value : values) {
        REQUIRE(std::trunc(value) == value && std::abs(value) <= exact,
                "{}: value {} at index {} is not a whole number up to 2^53", where(), value,
                wholes.size());
        wholes.push_back(static_cast<std::int64_t>(value));
    }
    return wholes;
}

}  // namespace wasp::h5
