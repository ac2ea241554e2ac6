/// Structures as bytes, for messages between ranks of the same program.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace wasp {

class ByteWriter {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void add(const T& value) { add_bytes(std::as_bytes(std::span(&value, 1))); }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void add(const std::vector<T>& values) {
        add(values.size());
        add_bytes(std::as_bytes(std::span(values)));
    }
    void add(const std::string& text) { add(std::vector<char>(text.begin(), text.end())); }

    std::span<const std::byte> bytes() const { return bytes_; }

private:
    void add_bytes(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> bytes_;
};

/// Reads in the order of writing.   Error: the bytes end too early.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    requires std::is_trivially_copyable_v<T>
    void read(T& value) { copy(&value, sizeof value); }
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void read(std::vector<T>& values) {
        std::size_t count = 0;
        read(count);
        ENSURE(count <= bytes_.size() / sizeof(T), "a message between ranks is too short");
        values.resize(count);
        copy(values.data(), count * sizeof(T));
    }
    void read(std::string& text) {
        std::vector<char> letters;
        read(letters);
        text.assign(letters.begin(), letters.end());
    }

private:
    void copy(void* to, std::size_t size) {
        ENSURE(size <= bytes_.size(), "a message between ranks is too short");
        if (size > 0) std::memcpy(to, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }
    std::span<const std::byte> bytes_;
};

}  // namespace wasp
