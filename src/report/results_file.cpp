#include "report/results_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "h5/atomic_file.hpp"
#include "h5/writer.hpp"
#include "numbered.hpp"
#include "own_file.hpp"
#include "schema.hpp"

namespace wasp {
namespace {

using h5::Shape;
using h5::Writer;

void add_attributes(Writer& writer, const std::string& path, const Attributes& attributes) {
    for (const auto& [name, attribute] : attributes)
        std::visit([&, &key = name](const auto& value) { writer.attribute(path, key, value); },
                   attribute);
}

void add_dataset(Writer& writer, const std::string& path, const h5::Values& values,
                 const Shape& shape, const char* units, const char* description) {
    constexpr std::size_t element_bytes = 8;
    writer.dataset(path, values, shape, h5::suitable_storage(shape, element_bytes));
    writer.attribute(path, "units", units);
    writer.attribute(path, "description", description);
}

template <class Row>
void add_texts(Writer& writer, const std::string& path, const std::vector<Row>& rows,
               std::string Row::*member, const char* description) {
    std::vector<std::string> texts(rows.size());
    std::ranges::transform(rows, texts.begin(), member);
    writer.dataset(path, texts);
    writer.attribute(path, "description", description);
}

template <class Row, class Columns>
void add_columns(Writer& writer, const std::string& group, const std::vector<Row>& rows,
                 const Columns& columns) {
    schema::for_each(columns, [&](const auto& column) {
        using Value = std::remove_cvref_t<decltype(Row{}.*column.member)>;
        std::vector<Value> values(rows.size());
        std::ranges::transform(rows, values.begin(), column.member);
        add_dataset(writer, group + "/" + column.name, values, {rows.size()}, column.units,
                    column.description);
    });
}

/// Of every dataset of the table but the scale itself.
template <class Columns>
void attach(Writer& writer, const std::string& group, const Columns& columns, unsigned dimension,
            const std::string& scale, const std::string& label) {
    schema::for_each(columns, [&](const auto& column) {
        const std::string path = group + "/" + column.name;
        if (path != scale) writer.attach_scale(path, dimension, scale, label);
    });
}

std::vector<std::int64_t> counted(std::size_t count, std::int64_t stride) {
    std::vector<std::int64_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(i) * stride;
    return numbers;
}

void add_curve(Writer& writer, const Results& results) {
    writer.group("/curve");
    add_columns(writer, "/curve", results.curve, schema::curve);
    attach(writer, "/curve", schema::curve, 0, "/curve/seconds", "seconds");
}

void add_ranks(Writer& writer, const Results& results) {
    writer.group("/ranks");
    add_dataset(writer, "/ranks/rank", counted(results.ranks.size(), 1), {results.ranks.size()},
                "1", "number of the rank");
    add_texts(writer, "/ranks/host", results.ranks, &RankRow::host, "name of the rank's node");
    add_texts(writer, "/ranks/cpus", results.ranks, &RankRow::cpus, "CPUs that it may run on");
    writer.attach_scale("/ranks/host", 0, "/ranks/rank", "rank");
    writer.attach_scale("/ranks/cpus", 0, "/ranks/rank", "rank");
    add_columns(writer, "/ranks", results.ranks, schema::ranks);
    attach(writer, "/ranks", schema::ranks, 0, "/ranks/rank", "rank");
}

void add_steps(Writer& writer, const Results& results) {
    std::size_t steps = 0;
    for (const auto& rank : results.ranks) steps = std::max(steps, rank.steps.size());
    const Shape shape{steps, results.ranks.size()};

    writer.group("/steps");
    writer.attribute("/steps", "record_every", results.record_every);
    writer.attribute("/steps", "description",
                     "ranks with fewer steps than others are filled up with NaN or -1");
    add_dataset(writer, "/steps/step", counted(steps, results.record_every), {steps}, "1",
                "number of the rank's step");
    schema::for_each(schema::steps, [&](const auto& column) {
        using Value = std::remove_cvref_t<decltype(StepRow{}.*column.member)>;
        constexpr auto missing = std::is_integral_v<Value>
                                     ? static_cast<Value>(-1)
                                     : std::numeric_limits<Value>::quiet_NaN();
        std::vector<Value> values(steps * shape[1], missing);
        for (std::size_t rank = 0; rank < shape[1]; ++rank)
            for (std::size_t step = 0; step < results.ranks[rank].steps.size(); ++step)
                values[step * shape[1] + rank] = results.ranks[rank].steps[step].*column.member;
        add_dataset(writer, std::string("/steps/") + column.name, values, shape, column.units,
                    column.description);
    });
    attach(writer, "/steps", schema::steps, 0, "/steps/step", "step");
    attach(writer, "/steps", schema::steps, 1, "/ranks/rank", "rank");
}

void add_staleness(Writer& writer, const Results& results) {
    std::size_t length = 1;
    for (const auto& rank : results.ranks) length = std::max(length, rank.staleness.size());
    const Shape shape{results.ranks.size(), length};
    std::vector<std::int64_t> per_rank(shape[0] * length), total(length);
    for (std::size_t rank = 0; rank < shape[0]; ++rank)
        for (std::size_t s = 0; s < results.ranks[rank].staleness.size(); ++s) {
            per_rank[rank * length + s] = results.ranks[rank].staleness[s];
            total[s] += results.ranks[rank].staleness[s];
        }

    writer.group("/staleness");
    add_dataset(writer, "/staleness/staleness", counted(length, 1), {length}, "1",
                "updates of others between pull and push");
    add_dataset(writer, "/staleness/total", total, {length}, "1", "updates of all ranks");
    add_dataset(writer, "/staleness/per_rank", per_rank, shape, "1", "updates of each rank");
    writer.attach_scale("/staleness/total", 0, "/staleness/staleness", "staleness");
    writer.attach_scale("/staleness/per_rank", 0, "/ranks/rank", "rank");
    writer.attach_scale("/staleness/per_rank", 1, "/staleness/staleness", "staleness");
}

void add_models(Writer& writer, const Results& results) {
    writer.group("/models");
    add_texts(writer, "/models/name", results.models, &ModelRow::name, "the run's final models");
    add_columns(writer, "/models", results.models, schema::models);
    attach(writer, "/models", schema::models, 0, "/models/name", "name");
}

Writer as_hdf5(const Results& results) {
    Writer writer;
    writer.attribute("/", "format_version", format_version);
    writer.attribute("/", "program", results_kind.program);
    writer.attribute("/", "note", schema::note);
    writer.attribute("/", "status", results.status);
    for (const auto& [path, attributes] : {std::pair{"/config", &results.config},
                                           {"/provenance", &results.provenance},
                                           {"/summary", &results.summary}}) {
        writer.group(path);
        add_attributes(writer, path, *attributes);
    }
    add_curve(writer, results);
    add_ranks(writer, results);
    add_steps(writer, results);
    add_staleness(writer, results);
    add_models(writer, results);
    return writer;
}

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& path, IfTaken taken) : path_(path) {
    if (taken == IfTaken::replace) {
        h5::remove_unfinished(path);
        if (std::filesystem::exists(path))
            h5::check_writable(path);
        else
            write({});
        remember();
        return;
    }
    const bool unique = taken == IfTaken::number;
    path_ = create_numbered(path, as_hdf5({}).finish(), unique ? most_numbers : 1);
    if (!path_.empty()) {
        remember();
        return;
    }
    REQUIRE(unique, "'{}' exists; give another --out, or --unique to number it", path.string());
    REQUIRE(false, "'{}' and {} numbered files after it exist; choose another --out", path.string(),
            most_numbers - 1);
}

std::optional<ResultsFile::Identity> ResultsFile::identity_of(const std::filesystem::path& path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) return std::nullopt;
    return Identity{status.st_dev, status.st_ino};
}

void ResultsFile::remember() {
    const auto close_file = [](const int* file) {
        close(*file);
        delete file;
    };
    mine_ = identity_of(path_);
    held_ = {new int(open(path_.c_str(), O_RDONLY | O_CLOEXEC)), close_file};
}

void mark_failed(const std::filesystem::path& path) noexcept {
    try {
        const auto seen = ResultsFile::identity_of(path);
        Results results = read_results(path);
        if (results.status != "running") return;
        results.status = "failed";
        Writer file = as_hdf5(results);
        const auto bytes = file.finish();
        if (ResultsFile::identity_of(path) != seen) return;  // a run that goes on has it by now
        h5::replace_file(path, bytes);
    } catch (const std::exception&) {
        // what went wrong first is what the user is told
    }
}

void ResultsFile::write(const Results& results) {
    Writer file = as_hdf5(results);
    const auto bytes = file.finish();
    const auto there = identity_of(path_);
    const bool taken = there && there != mine_;
    if (there && !taken)
        h5::replace_file(path_, bytes);
    else if (taken || !h5::create_file(path_, bytes)) {
        const auto lost = std::exchange(path_, create_numbered(path_, bytes, most_numbers));
        remember();
        ENSURE(false,
               "'{}' was removed during this run, and is another's by now; the results so far are "
               "in '{}'",
               lost.string(), path_.string());
    }
    remember();
}

}  // namespace wasp
