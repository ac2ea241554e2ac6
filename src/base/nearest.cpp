#include "base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace wasp {

namespace {

/// Insertions, deletions, changes and exchanges of neighbours that make `b` of `a`.
/// Source: Damerau 1964; the restricted distance, in which no letter moves twice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
    std::string_view best;
    // Of two that are equally near, the one that begins as the name does: few mistype that.
    std::pair least{std::max<std::size_t>(2, name.size() / 2), true};
    for (const auto candidate : known) {
        const std::pair distance{edit_distance(name, candidate),
                                 candidate.substr(0, 1) != name.substr(0, 1)};
        if (distance > least || (distance == least && !best.empty())) continue;
        least = distance;
        best = candidate;
    }
    return best;
}

std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> known) {
    const auto guess = nearest(name, known);
    constexpr std::size_t enough = 60;  // letters of a name that may be anything
    return fmt::format("unknown {} '{}{}'{}; known: {}", kind, name.substr(0, enough),
                       name.size() > enough ? "…" : "",
                       guess.empty() ? "" : fmt::format(", did you mean '{}'?", guess),
                       fmt::join(known, ", "));
}

}  // namespace wasp
