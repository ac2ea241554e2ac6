/// Private to src/report/: a table in which the columns stand below one another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wasp {

class TextTable {
public:
    /// left: so many of the first columns are flush left, the others flush right.
    TextTable(std::vector<std::string> header, std::size_t left);

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    std::string text() const;  ///< lines, each with its end

private:
    std::vector<std::vector<std::string>> rows_;  // the header is the first
    std::size_t left_;
};

}  // namespace wasp
