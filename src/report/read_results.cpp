#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "h5/reader.hpp"
#include "own_file.hpp"
#include "report/results_file.hpp"
#include "schema.hpp"

namespace wasp {
namespace {

using h5::File;

/// A dataset that must have `shape`, as the numbers that the program keeps of it.
template <class Value>
std::vector<Value> read_values(const File& file, const std::string& name,
                               const std::vector<std::size_t>& shape) {
    const auto array = file.array(name);
    REQUIRE(array.shape() == shape,
            "{}: its shape does not fit those of its neighbours; the file "
            "was changed or is damaged",
            array.where());
    if constexpr (std::is_same_v<Value, std::int64_t>) {
        return array.wholes();
    } else if constexpr (std::is_integral_v<Value>) {
        std::vector<Value> values;
        for (const auto whole : array.wholes()) {
            REQUIRE(std::in_range<Value>(whole), "{}: value {} is out of range", array.where(),
                    whole);
            values.push_back(static_cast<Value>(whole));
        }
        return values;
    } else if constexpr (std::is_same_v<Value, float>) {
        return array.floats();
    } else {
        return array.doubles();
    }
}

template <class Row, class Columns>
void read_columns(const File& file, const std::string& group, std::vector<Row>& rows,
                  const Columns& columns) {
    schema::for_each(columns, [&](const auto& column) {
        using Value = std::remove_cvref_t<decltype(Row{}.*column.member)>;
        const auto values = read_values<Value>(file, group + "/" + column.name, {rows.size()});
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*column.member = values[i];
    });
}

template <class Row>
void read_texts(const File& file, const std::string& name, std::vector<Row>& rows,
                std::string Row::*member) {
    const auto texts = file.texts(name);
    REQUIRE(texts.size() == rows.size(), "{}: {}: {} names for {} rows", file.path().string(), name,
            texts.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = texts[i];
}

std::size_t length_of(const File& file, const std::string& name) {
    constexpr std::size_t most = 1 << 24;  // rows
    const auto array = file.array(name);
    REQUIRE(array.shape().size() == 1 && array.rows() <= most,
            "{}: expected a list of at most {} numbers", array.where(), most);
    return array.rows();
}

void read_staleness(const File& file, std::vector<RankRow>& ranks) {
    const std::size_t length = length_of(file, "/staleness/staleness");
    const auto counts =
        read_values<std::int64_t>(file, "/staleness/per_rank", {ranks.size(), length});
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
        for (std::size_t s = 0; s < length; ++s)
            ranks[rank].staleness.push_back(counts[rank * length + s]);
}

/// The columns are filled up below the last step of a rank: there, seconds are NaN.
void read_steps(const File& file, std::vector<RankRow>& ranks) {
    const std::size_t steps = length_of(file, "/steps/step"), width = ranks.size();
    for (auto& rank : ranks) rank.steps.resize(steps);
    schema::for_each(schema::steps, [&](const auto& column) {
        using Value = std::remove_cvref_t<decltype(StepRow{}.*column.member)>;
        const auto values =
            read_values<Value>(file, std::string("/steps/") + column.name, {steps, width});
        for (std::size_t rank = 0; rank < width; ++rank)
            for (std::size_t step = 0; step < steps; ++step)
                ranks[rank].steps[step].*column.member = values[step * width + rank];
    });
    for (auto& rank : ranks)
        while (!rank.steps.empty() && std::isnan(rank.steps.back().seconds)) rank.steps.pop_back();
}

}  // namespace

Results read_results(const std::filesystem::path& path, bool with_steps) {
    const File file(path);
    check_kind(file, results_kind);
    Results results;
    results.status = text_attribute(file, "/", "status");
    results.config = file.attributes("/config");
    results.provenance = file.attributes("/provenance");
    results.summary = file.attributes("/summary");
    results.record_every = whole_attribute(file, "/steps", "record_every", 1,
                                           std::numeric_limits<std::int64_t>::max());
    results.curve.resize(length_of(file, "/curve/seconds"));
    read_columns(file, "/curve", results.curve, schema::curve);
    results.ranks.resize(length_of(file, "/ranks/rank"));
    read_columns(file, "/ranks", results.ranks, schema::ranks);
    read_texts(file, "/ranks/host", results.ranks, &RankRow::host);
    read_texts(file, "/ranks/cpus", results.ranks, &RankRow::cpus);
    read_staleness(file, results.ranks);
    if (with_steps) read_steps(file, results.ranks);
    results.models.resize(length_of(file, "/models/test_loss"));
    read_columns(file, "/models", results.models, schema::models);
    read_texts(file, "/models/name", results.models, &ModelRow::name);
    return results;
}

}  // namespace wasp
