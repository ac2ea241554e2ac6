/// How much memory is left.
#pragma once

#include <cstddef>
#include <optional>

namespace wasp {

/// Bytes that this process may still take: of the machine, and of its control group.
/// Empty: unknown.
std::optional<std::size_t> free_memory();

}  // namespace wasp
