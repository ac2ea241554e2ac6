/// Private to src/data/: labels of one split in a foreign array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "h5/reader.hpp"
#include "layout.hpp"

namespace wasp {

struct Labels {
    std::string where;  ///< to start a message with
    std::vector<std::uint16_t> values;
    std::size_t first = 0;       ///< index of values[0] in the file, for messages
    std::optional<int> classes;  ///< width of one-hot ones
};

/// How many labels there are: rows, or columns of a single row.   Error: as count_rows().
std::size_t count_labels(const h5::Array& array, const Rows& rows);

/// (N), (N,1), (1,N) of whole numbers, whatever their type, or one-hot (N,K).   base: the first
/// class.
/// Error: not such, or a value that is no class, with its index.
Labels read_labels(const h5::Array& array, const Rows& rows, int base);

/// The labels of several files, one after the other.   Error: they are of different widths.
void append(Labels& labels, const Labels& more);

/// The number of classes where the file does not say it: one more than the largest label.
/// Error: class 0 has no image; too many classes have none; or the last has a single one where the
/// others have more (a stray label?); names --classes or --label-base.
int count_classes(const Labels& train, const Labels* test);

/// Error: a label that is not below `classes`, with its index.
void check_labels(const Labels& labels, int classes);

}  // namespace wasp
