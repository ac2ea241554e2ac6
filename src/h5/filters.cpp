#include "filters.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace wasp::h5 {

namespace {

using Bytes = std::vector<std::byte>;

struct Foreign {
    int id;
    std::string_view name;
};
constexpr std::array foreign{
    Foreign{305, "LZO"},          Foreign{307, "bzip2"},     Foreign{32001, "Blosc"},
    Foreign{32002, "MAFISC"},     Foreign{32003, "Snappy"},  Foreign{32004, "LZ4"},
    Foreign{32008, "bitshuffle"}, Foreign{32013, "ZFP"},     Foreign{32015, "Zstandard"},
    Foreign{32017, "SZ"},         Foreign{32019, "JPEG-LS"}, Foreign{32026, "Blosc2"},
};

constexpr std::size_t checksum_bytes = 4;
constexpr int lzf_filter = 32000;  // h5py's own

std::string filter_name(int id) {
    const auto* const known = std::ranges::find(foreign, id, &Foreign::id);
    return known == foreign.end() ? fmt::format("number {}", id)
                                  : fmt::format("{} ({})", known->name, id);
}

bool known_here(int id) {
    return id == H5Z_FILTER_DEFLATE || id == H5Z_FILTER_SHUFFLE || id == H5Z_FILTER_FLETCHER32 ||
           id == lzf_filter;
}

/// Fletcher's checksum over big-endian 16-bit words, as H5_checksum_fletcher32.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
    constexpr std::size_t sums_fit = 360;  // words, before 32 bits could overflow
    const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16U); };
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    for (std::size_t words = bytes.size() / 2; words > 0;) {
        const std::size_t part = std::min(words, sums_fit);
        words -= part;
        for (std::size_t i = 0; i < part; ++i, data += 2) {
            low += static_cast<std::uint32_t>(data[0]) << 8U | data[1];
            high += low;
        }
        low = fold(low);
        high = fold(high);
    }
    if (bytes.size() % 2 != 0) {
        low += static_cast<std::uint32_t>(*data) << 8U;
        high += low;
        low = fold(low);
        high = fold(high);
    }
    return fold(high) << 16U | fold(low);
}

void verify_checksum(Bytes& data, const std::string& where) {
    REQUIRE(data.size() >= checksum_bytes, "{}: a chunk is too short for its checksum", where);
    const std::size_t size = data.size() - checksum_bytes;
    std::uint32_t stored = 0;
    std::memcpy(&stored, data.data() + size, checksum_bytes);
    const std::uint32_t sum = fletcher32({data.data(), size});
    // Writers before HDF5 1.6.3 swapped the bytes of both halves.
    const std::uint32_t old = (sum & 0x00ff00ffU) << 8U | (sum >> 8U & 0x00ff00ffU);
    REQUIRE(stored == sum || stored == old,
            "{}: damaged: a chunk's checksum does not match; copy or download the file again",
            where);
    data.resize(size);
}

/// Byte k of all elements stand together: put them back in their places.
void unshuffle(Bytes& data, std::size_t element_bytes) {
    if (element_bytes <= 1 || element_bytes > data.size()) return;
    const std::size_t count = data.size() / element_bytes;
    const Bytes stored = data;
    for (std::size_t k = 0; k < element_bytes; ++k)
        for (std::size_t i = 0; i < count; ++i) data[i * element_bytes + k] = stored[k * count + i];
}

void inflate_exactly(Bytes& data, std::size_t size, const std::string& where) {
    Bytes out(size);
    uLongf length = size;
    const int code = uncompress(reinterpret_cast<Bytef*>(out.data()), &length,
                                reinterpret_cast<const Bytef*>(data.data()), data.size());
    REQUIRE(code == Z_OK && length == size,
            "{}: damaged: a gzip chunk does not unpack to its {} bytes", where, size);
    data = std::move(out);
}

/// Literal runs (first byte below 32) and copies of earlier bytes.
/// Empty: the bytes do not unpack to exactly `size`.
std::optional<Bytes> lzf_bytes(std::span<const std::byte> packed, std::size_t size) {
    Bytes out;
    out.reserve(size);
    std::size_t at = 0;
    const auto more = [&](std::size_t count) { return count <= packed.size() - at; };
    const auto next = [&] { return std::to_integer<std::size_t>(packed[at++]); };
    while (more(1)) {
        const std::size_t control = next();
        std::size_t length = control >> 5U;
        if (length == 0) {
            length = control + 1;
            if (!more(length) || length > size - out.size()) return std::nullopt;
            const auto from = packed.subspan(at, length);
            out.insert(out.end(), from.begin(), from.end());
            at += length;
            continue;
        }
        if (length == 7) {
            if (!more(1)) return std::nullopt;
            length += next();
        }
        length += 2;
        if (!more(1)) return std::nullopt;
        const std::size_t back = ((control & 31U) << 8U) + next() + 1;
        if (back > out.size() || length > size - out.size()) return std::nullopt;
        for (; length > 0; --length) out.push_back(out[out.size() - back]);  // may overlap
    }
    if (out.size() != size) return std::nullopt;
    return out;
}

void unpack_lzf(Bytes& data, std::size_t size, const std::string& where) {
    auto out = lzf_bytes(data, size);
    REQUIRE(out, "{}: damaged: an LZF chunk does not unpack to its {} bytes", where, size);
    data = std::move(*out);
}

}  // namespace

Filters::Filters(hid_t creation_properties, std::string where) : where_(std::move(where)) {
    const int count = H5Pget_nfilters(creation_properties);
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0;
        std::array<unsigned, 32> parameters{};
        std::size_t used = parameters.size();
        const int id = H5Pget_filter2(creation_properties, static_cast<unsigned>(i), &flags, &used,
                                      parameters.data(), 0, nullptr, nullptr);
        const bool librarys =
            id == H5Z_FILTER_SZIP || id == H5Z_FILTER_NBIT || id == H5Z_FILTER_SCALEOFFSET;
        REQUIRE(known_here(id) || (librarys && H5Zfilter_avail(id) > 0),
                "{}: packed with filter {}, which can't be read here; write it again with gzip or "
                "without compression",
                where_, filter_name(id));
        const auto same = std::ranges::find(filters_, id, &Filter::id);
        REQUIRE(same == filters_.end(), "{}: packed twice with the same filter", where_);
        used = std::min(used, parameters.size());
        filters_.push_back({id, {parameters.begin(), parameters.begin() + used}});
    }
}

bool Filters::compressing() const {
    return std::ranges::any_of(filters_, [](const Filter& filter) {
        return filter.id != H5Z_FILTER_SHUFFLE && filter.id != H5Z_FILTER_FLETCHER32;
    });
}

bool Filters::ours() const {
    return std::ranges::all_of(filters_,
                               [](const Filter& filter) { return known_here(filter.id); });
}

void Filters::check_library_filters(std::size_t bytes, std::size_t element_bytes) const {
    // The positions are those of the library's sources: H5Znbit.c and H5Zscaleoffset.c.
    for (const auto& [id, parameters] : filters_) {
        if (id != H5Z_FILTER_NBIT && id != H5Z_FILTER_SCALEOFFSET) continue;
        const bool fits = parameters.size() > 4 && parameters[2] == bytes / element_bytes &&
                          parameters[4] == element_bytes;
        REQUIRE(fits, "{}: the parameters of its compression do not fit its chunks", where_);
    }
}

void Filters::check_library_chunk(std::span<const std::byte> packed, std::uint32_t skipped,
                                  std::size_t bytes) const {
    const auto szip = std::ranges::find(filters_, H5Z_FILTER_SZIP, &Filter::id);
    const bool applied = szip != filters_.end() && (skipped >> (szip - filters_.begin()) & 1U) == 0;
    std::uint32_t declared = 0;  // szip puts it in front
    if (applied && packed.size() >= sizeof declared)
        std::memcpy(&declared, packed.data(), sizeof declared);
    REQUIRE(!applied || declared == bytes, "{}: damaged: a chunk does not unpack to its {} bytes",
            where_, bytes);
}

void Filters::unpack(std::span<const std::byte> packed, std::uint32_t skipped,
                     std::span<std::byte> bytes) const {
    // before[i]: the size of what filter i was given when the chunk was written.
    std::vector<std::size_t> before;
    std::size_t size = bytes.size();
    for (std::size_t i = 0; i < filters_.size(); ++i) {
        before.push_back(size);
        const bool applied = (skipped >> i & 1U) == 0;
        if (applied && filters_[i].id == H5Z_FILTER_FLETCHER32) size += checksum_bytes;
    }
    Bytes data(packed.begin(), packed.end());
    for (std::size_t i = filters_.size(); i-- > 0;) {
        if ((skipped >> i & 1U) != 0) continue;
        const auto& [id, parameters] = filters_[i];
        if (id == H5Z_FILTER_FLETCHER32) verify_checksum(data, where_);
        if (id == H5Z_FILTER_DEFLATE) inflate_exactly(data, before[i], where_);
        if (id == lzf_filter) unpack_lzf(data, before[i], where_);
        if (id == H5Z_FILTER_SHUFFLE) unshuffle(data, parameters.empty() ? 1 : parameters[0]);
    }
    REQUIRE(data.size() == bytes.size(), "{}: damaged: a chunk holds {} bytes instead of {}",
            where_, data.size(), bytes.size());
    std::ranges::copy(data, bytes.begin());
}

}  // namespace wasp::h5
