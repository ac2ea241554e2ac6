#include "memory_need.hpp"

#include "base/error.hpp"
#include "base/free_memory.hpp"

namespace wasp {

void check_memory_need(const std::string& where, std::size_t bytes) {
    constexpr double gigabyte = 1e9;
    const auto free = free_memory();
    REQUIRE(!free || bytes <= *free,
            "{}: takes {:.1f} GB of memory, and {:.1f} GB are free; use a machine with more, or "
            "fewer images",
            where, static_cast<double>(bytes) / gigabyte, static_cast<double>(*free) / gigabyte);
}

}  // namespace wasp
