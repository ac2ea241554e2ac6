/// What an object is between two steps of a run, item by item: one list in each class both writes
/// it to a checkpoint and reads it back, so that the two can't differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace wasp {

class State {
public:
    virtual ~State() = default;

    template <class T>
    requires std::is_trivially_copyable_v<T>
    void value(std::string_view name, T& value) {
        item(name, std::as_writable_bytes(std::span(&value, 1)));
    }

    /// As many as there were when it was written.
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void values(std::string_view name, std::span<T> values) {
        item(name, std::as_writable_bytes(values));
    }

    /// As many as were written.
    template <class Vector>
    void list(std::string_view name, Vector& values) {
        std::uint64_t count = values.size();
        item(name, std::as_writable_bytes(std::span(&count, 1)));
        REQUIRE(count <= most_bytes() / sizeof(values[0]), "'{}': {} of them", name, count);
        values.resize(count);
        item(name, std::as_writable_bytes(std::span(values)));
    }

    /// Whether items are being read back.
    virtual bool restores() const = 0;

private:
    virtual void item(std::string_view name, std::span<std::byte> bytes) = 0;
    virtual std::uint64_t most_bytes() const = 0;  ///< that an item can still have
};

/// For what is put together from functions.
using VisitState = std::function<void(State&)>;

class StateWriter final : public State {
public:
    bool restores() const override { return false; }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    void item(std::string_view name, std::span<std::byte> bytes) override;
    std::uint64_t most_bytes() const override { return ~std::uint64_t{0}; }

    std::vector<std::byte> bytes_;
};

class StateReader final : public State {
public:
    /// bytes: of a StateWriter; where: to start a message with.
    StateReader(std::span<const std::byte> bytes, std::string where);

    bool restores() const override { return true; }

    /// Error: there are more items.
    void done() const;

private:
    /// Error: the next item has another name or size (exit code 2).
    void item(std::string_view name, std::span<std::byte> bytes) override;
    std::uint64_t most_bytes() const override { return rest_.size(); }
    void take(std::span<std::byte> bytes);

    std::span<const std::byte> rest_;
    std::string where_;
};

}  // namespace wasp
