/// Private to src/data/: data that do not fit are refused before memory is taken.
#pragma once

#include <cstddef>
#include <string>

namespace wasp {

/// where: the file.   Error: `bytes` are more than the machine has free; says both figures.
void check_memory_need(const std::string& where, std::size_t bytes);

}  // namespace wasp
