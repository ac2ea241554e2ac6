#include "object_header.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "encoded_attribute.hpp"
#include "encoded_type.hpp"
#include "group_nodes.hpp"
#include "heaps.hpp"
#include "mapped_file.hpp"

namespace wasp::h5 {
namespace {

using namespace std::string_view_literals;

constexpr auto start_of_new_header = "OHDR"sv;

/// Those that are looked at.
enum class Kind : std::uint16_t {
    type = 3,
    old_fill_value = 4,
    fill_value = 5,
    other_files = 7,
    layout = 8,
    attribute = 12,
    continuation = 16,
    symbol_table = 17
};

struct Message {
    Kind kind;
    std::string_view bytes;
    bool is_shared;  ///< the bytes say where the message stands
};

std::string_view part_of(std::string_view file, std::uint64_t place, std::uint64_t size) {
    if (place > file.size()) return {};
    return file.substr(place, size);
}

/// The messages of one block. Where it is damaged they end; the library will tell.
std::vector<Message> messages_in(std::string_view block, bool is_new, bool counts_creation) {
    const std::size_t head = !is_new ? 8 : counts_creation ? 6 : 4;
    std::vector<Message> messages;
    while (block.size() >= head) {
        const auto kind = static_cast<Kind>(is_new ? number_at<std::uint8_t>(block, 0)
                                                   : number_at<std::uint16_t>(block, 0));
        const std::size_t size = number_at<std::uint16_t>(block, is_new ? 1 : 2);
        if (size > block.size() - head) break;
        const unsigned flags = number_at<std::uint8_t>(block, is_new ? 3 : 4);
        messages.push_back({kind, block.substr(head, size), (flags & 2U) != 0});
        block.remove_prefix(head + size);
    }
    return messages;
}

/// Whether the number of 4 bytes at `place` counts no more bytes than follow it.
bool has_room(std::string_view message, std::size_t place) {
    constexpr std::size_t number = sizeof(std::uint32_t);
    return place + number <= message.size() &&
           number_at<std::uint32_t>(message, place) <= message.size() - place - number;
}

/// Versions 1 and 2: version, rank, class (0: data in the header), five reserved bytes, 4 bytes an
/// axis, the size of the data, and these.
bool is_sound_layout(std::string_view message) {
    constexpr std::size_t start_of_axes = 8, axis = 4;
    return message.size() < start_of_axes || byte_at(message, 0) > 2 || byte_at(message, 2) != 0 ||
           has_room(message, start_of_axes + axis * byte_at(message, 1));
}

/// Version, two settings, whether there is a value (in version 1 there always is), and its size;
/// from version 3 on version, flags, size.
bool is_sound_fill_value(std::string_view message) {
    constexpr std::size_t head = 4;
    if (message.size() < head) return true;
    const std::size_t version = byte_at(message, 0);
    const bool has_value = version == 1   ? true
                           : version == 2 ? byte_at(message, 3) != 0
                                          : (byte_at(message, 1) & 0x20U) != 0;
    return !has_value || has_room(message, version < 3 ? head : 2);
}

/// Of a group of the old kind.
bool is_sound_symbol_table(std::string_view message, std::string_view file) {
    constexpr std::size_t address = sizeof(std::uint64_t);
    return message.size() < 2 * address ||
           is_sound_group(file, number_at<std::uint64_t>(message, 0),
                          number_at<std::uint64_t>(message, address));
}

/// The first block of messages of the header at `place`, and how they are written.
struct FirstBlock {
    std::string_view bytes;
    bool is_new = false, counts_creation = false;
};

FirstBlock first_block(std::string_view file, std::uint64_t place) {
    constexpr std::size_t old_head = 16;
    const auto header = part_of(file, place, file.size());
    if (header.size() < old_head) return {};
    if (!header.starts_with(start_of_new_header))
        return {part_of(header, old_head, number_at<std::uint32_t>(header, 8))};
    const unsigned flags = number_at<std::uint8_t>(header, 5);
    const bool has_times = (flags & 0x20U) != 0, has_limits = (flags & 0x10U) != 0;
    const std::size_t size_at = 6 + (has_times ? 16 : 0) + (has_limits ? 4 : 0);
    const std::size_t size_bytes = std::size_t{1} << (flags & 3U);
    if (header.size() < size_at + sizeof(std::uint64_t)) return {};
    auto size = number_at<std::uint64_t>(header, size_at);
    if (size_bytes < sizeof size) size &= (std::uint64_t{1} << (8 * size_bytes)) - 1;
    return {part_of(header, size_at + size_bytes, size), true, (flags & 4U) != 0};
}

/// Calls visit(message) for those of all blocks of the header at `place`, as long as it returns
/// true. Returns whether it always did, and no block is part of another one.
template <class Visit>
bool each_message(std::string_view file, std::uint64_t place, Visit visit) {
    const auto first = first_block(file, place);
    std::vector<std::string_view> blocks{first.bytes};
    std::size_t bytes = first.bytes.size();  // of all blocks, which may go on in one another
    for (std::size_t i = 0; i < blocks.size(); ++i)
        for (const auto& message : messages_in(blocks[i], first.is_new, first.counts_creation)) {
            if (!visit(message)) return false;
            if (message.kind != Kind::continuation || message.bytes.size() < 16) continue;
            const auto more = part_of(file, number_at<std::uint64_t>(message.bytes, 0),
                                      number_at<std::uint64_t>(message.bytes, 8));
            // The new ones have a signature before, and a checksum behind.
            const std::size_t around = first.is_new ? 4 : 0;
            if (more.size() <= 2 * around) continue;
            bytes += more.size();
            if (bytes > file.size()) return false;
            blocks.push_back(more.substr(around, more.size() - 2 * around));
        }
    return true;
}

/// The type in a header of its own to which a shared message leads: version, kind (1: a heap of
/// messages, which is not looked at), in version 1 six reserved bytes, and the header's address.
/// Empty if it leads to none.
std::string_view type_elsewhere(std::string_view message, std::string_view file) {
    constexpr std::size_t address_bytes = 8;
    if (message.empty()) return {};
    const std::size_t version = byte_at(message, 0), address_at = version == 1 ? 8 : 2;
    if (message.size() < address_at + address_bytes) return {};
    if (version >= 3 && byte_at(message, 1) == 1) return {};
    std::string_view type;
    each_message(file, number_at<std::uint64_t>(message, address_at), [&type](const Message& one) {
        if (one.kind == Kind::type && !one.is_shared) type = one.bytes;
        return one.kind != Kind::type;
    });
    return type;
}

/// Of data that are in files of their own: whether the heap of these files' names is sound.
bool are_sound_other_files(std::string_view message, std::string_view file) {
    constexpr std::size_t heap_at = 8;
    return message.size() < heap_at + sizeof(std::uint64_t) ||
           is_sound_local_heap(file, number_at<std::uint64_t>(message, heap_at));
}

bool is_sound(const Message& message, std::string_view file) {
    const auto elsewhere = [file](std::string_view bytes) { return type_elsewhere(bytes, file); };
    if (message.is_shared) return message.kind != Kind::type || fits(elsewhere(message.bytes));
    switch (message.kind) {
        case Kind::type:
            return fits(message.bytes);
        case Kind::old_fill_value:
            return has_room(message.bytes, 0);
        case Kind::fill_value:
            return is_sound_fill_value(message.bytes);
        case Kind::other_files:
            return are_sound_other_files(message.bytes, file);
        case Kind::layout:
            return is_sound_layout(message.bytes);
        case Kind::attribute:
            return attribute_fits(message.bytes, elsewhere);
        case Kind::symbol_table:
            return is_sound_symbol_table(message.bytes, file);
        default:
            return true;
    }
}

bool is_sound_header(std::string_view file, std::uint64_t place) {
    return each_message(file, place,
                        [file](const Message& message) { return is_sound(message, file); });
}

}  // namespace

void check_object_header(const File::Source& source, const std::string& name, hid_t links) {
    H5O_info_t info{};
    if (H5Oget_info_by_name2(source.file.get(), name.c_str(), &info, H5O_INFO_BASIC, links) < 0)
        return;  // nor can it be opened
    const auto mapped = MappedFile::of(source);
    REQUIRE(
        !mapped || is_sound_header(mapped->bytes(), info.addr),
        "{}: damaged: a size or an address in its header is beyond the end, or leads in circles",
        source.where(name));
}

}  // namespace wasp::h5
