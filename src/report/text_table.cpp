#include "text_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace wasp {

TextTable::TextTable(std::vector<std::string> header, std::size_t left)
    : rows_{std::move(header)}, left_(left) {}

std::string TextTable::text() const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) line += "  ";
            line += i < left_ ? fmt::format("{:<{}}", row[i], widths[i])
                              : fmt::format("{:>{}}", row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

}  // namespace wasp
