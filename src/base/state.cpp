#include "base/state.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace wasp {

namespace {

struct Header {
    std::uint64_t name = 0, size = 0;  // letters, bytes
};

}  // namespace

void StateWriter::item(std::string_view name, std::span<std::byte> bytes) {
    const auto append = [this](std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    };
    const Header header{name.size(), bytes.size()};
    append(std::as_bytes(std::span(&header, 1)));
    append(std::as_bytes(std::span(name)));
    append(bytes);
}

StateReader::StateReader(std::span<const std::byte> bytes, std::string where)
    : rest_(bytes), where_(std::move(where)) {}

void StateReader::take(std::span<std::byte> bytes) {
    REQUIRE(bytes.size() <= rest_.size(), "{}: ends too early", where_);
    if (!bytes.empty()) std::memcpy(bytes.data(), rest_.data(), bytes.size());
    rest_ = rest_.subspan(bytes.size());
}

void StateReader::item(std::string_view name, std::span<std::byte> bytes) {
    Header header;
    take(std::as_writable_bytes(std::span(&header, 1)));
    REQUIRE(header.name == name.size(), "{}: another item than '{}' comes next", where_, name);
    std::string found(name.size(), ' ');
    take(std::as_writable_bytes(std::span(found)));
    REQUIRE(found == name, "{}: another item than '{}' comes next", where_, name);
    REQUIRE(header.size == bytes.size(), "{}: '{}' has {} bytes here and {} in this run", where_,
            name, header.size, bytes.size());
    take(bytes);
}

void StateReader::done() const {
    REQUIRE(rest_.empty(), "{}: {} bytes more than this run has items for", where_, rest_.size());
}

}  // namespace wasp
