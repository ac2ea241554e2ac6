#include "group_nodes.hpp"

#include <unordered_set>
#include <vector>

#include "heaps.hpp"
#include "mapped_file.hpp"

namespace wasp::h5 {
namespace {

using namespace std::string_view_literals;

constexpr auto start_of_tree = "TREE\0"sv, start_of_links = "SNOD\1"sv;

/// Signature, kind, level, number of children, two neighbours; a key; then a child and a key each.
/// Returns the children's addresses.
std::vector<std::uint64_t> children_of(std::string_view node) {
    constexpr std::size_t count_at = 6, first = 32, stride = 16;
    std::vector<std::uint64_t> addresses;
    const std::size_t count = number_at<std::uint16_t>(node, count_at);
    for (std::size_t i = 0, at = first; i < count && at + stride <= node.size(); ++i, at += stride)
        addresses.push_back(number_at<std::uint64_t>(node, at));
    return addresses;
}

/// Signature, version, number of links; each is its name, the address of its object's header, what
/// else is known of it, and that: of a group its tree and its heap.
bool are_sound_links(std::string_view file, std::string_view node) {
    enum : std::uint32_t { group = 1, soft_link = 2 };
    constexpr std::size_t count_at = 6, first = 8, stride = 40;
    const std::size_t count = number_at<std::uint16_t>(node, count_at);
    for (std::size_t i = 0, at = first; i < count && at + stride <= node.size();
         ++i, at += stride) {
        const auto known = number_at<std::uint32_t>(node, at + 16);
        const auto header = number_at<std::uint64_t>(node, at + 8);
        const auto tree = number_at<std::uint64_t>(node, at + 24);
        const auto heap = number_at<std::uint64_t>(node, at + 32);
        if (known != soft_link && header >= file.size()) return false;
        if (known == group && (tree >= file.size() || !is_sound_local_heap(file, heap)))
            return false;
    }
    return true;
}

}  // namespace

bool is_sound_group(std::string_view file, std::uint64_t tree, std::uint64_t heap) {
    constexpr std::size_t least = 32;
    if (tree >= file.size() || !is_sound_local_heap(file, heap)) return false;
    std::vector<std::uint64_t> nodes{tree};
    std::unordered_set<std::uint64_t> seen{tree};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto node = file.substr(nodes[i]);
        if (node.size() < least) continue;
        if (node.starts_with(start_of_tree)) {
            for (const auto child : children_of(node)) {
                if (child >= file.size() || !seen.insert(child).second) return false;
                nodes.push_back(child);
            }
        } else if (node.starts_with(start_of_links)) {
            if (!are_sound_links(file, node)) return false;
        }
    }
    return true;
}

}  // namespace wasp::h5
