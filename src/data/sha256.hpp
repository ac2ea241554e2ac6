/// Private to src/data/: SHA-256, to tell data sets apart and damage from data. (Not for secrets.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace wasp {

/// Source: FIPS 180-4.
class Sha256 {
public:
    void add(std::span<const std::byte> bytes);
    /// 64 lower-case hexadecimal digits. Ends the message.
    std::string finish();

private:
    void take_block(const std::byte* block);

    static constexpr std::size_t block_bytes = 64;
    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, block_bytes> rest_{};
    std::uint64_t length_ = 0;  ///< bytes so far
};

std::string sha256(std::span<const std::byte> bytes);

}  // namespace wasp
