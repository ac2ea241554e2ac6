/// Small messages that show by themselves whether they have arrived as a whole: every 64-bit word
/// is half message and half the message's number, and a word is never written in parts.
/// Source: the low-latency (LL) protocol of NVIDIA's NCCL.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace wasp {

template <class Message>
using Sealed = std::array<std::uint64_t, sizeof(Message) / sizeof(std::uint32_t)>;

template <class Message>
Sealed<Message> seal(const Message& message, std::uint32_t number) {
    using Halves = std::array<std::uint32_t, sizeof(Message) / sizeof(std::uint32_t)>;
    const auto halves = std::bit_cast<Halves>(message);
    Sealed<Message> words{};
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = (static_cast<std::uint64_t>(number) << 32U) | halves[i];
    return words;
}

/// Message `number` in `words`, to which others write; empty when it has not arrived yet.
template <class Message>
std::optional<Message> unseal(Sealed<Message>& words, std::uint32_t number) {
    std::array<std::uint32_t, sizeof(Message) / sizeof(std::uint32_t)> halves{};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::uint64_t word = std::atomic_ref(words[i]).load(std::memory_order_acquire);
        if (word >> 32U != number) return {};
        halves[i] = static_cast<std::uint32_t>(word);
    }
    return std::bit_cast<Message>(halves);
}

}  // namespace wasp
