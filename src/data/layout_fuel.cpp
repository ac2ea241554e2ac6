// Fuel: all rows in `features` and `targets`; the root attribute `split` is a list of records
// (split, source, start, stop, indices …) that say which rows are whose; where indices refer to a
// list of rows, start and stop do not count.
// Source: mila-iqia/fuel, fuel/datasets/hdf5.py, H5PYDataset.
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "layout.hpp"

namespace wasp {

namespace {

class SplitTable {
public:
    explicit SplitTable(const h5::File& file) : file_(file), path_(file.path().string()) {
        constexpr std::array<std::string_view, 5> fields{"split", "source", "start", "stop",
                                                         "indices"};
        columns_ = file.records("/", "split", fields);
        rows_ = columns_["split"].texts.size();
        const bool complete = rows_ > 0 && columns_["source"].texts.size() == rows_ &&
                              columns_["start"].wholes.size() == rows_ &&
                              columns_["stop"].wholes.size() == rows_;
        REQUIRE(complete, "{}: attribute 'split': expected records of split, source, start, stop",
                path_);
    }

    /// The rows of `source` in `split`.   Empty: there are none.
    std::optional<Rows> find(std::string_view split, const std::string& source) {
        for (std::size_t i = 0; i < rows_; ++i) {
            if (columns_["split"].texts[i] != split || columns_["source"].texts[i] != source)
                continue;
            const auto& indices = columns_["indices"].references;
            if (i < indices.size() && !indices[i].empty())
                return Rows{.dataset = "/" + source, .list = read_list(indices[i])};
            const std::int64_t start = columns_["start"].wholes[i];
            const std::int64_t stop = columns_["stop"].wholes[i];
            REQUIRE(start >= 0 && start <= stop,
                    "{}: attribute 'split': {} of '{}' start at {} and stop at {}", path_, source,
                    split, start, stop);
            return Rows{"/" + source, static_cast<std::size_t>(start),
                        static_cast<std::size_t>(stop - start)};
        }
        return std::nullopt;
    }

    std::optional<SplitPlan> find_split(std::string_view split, const std::string& targets) {
        const auto images = find(split, "features");
        const auto labels = find(split, targets);
        if (!images && !labels) return std::nullopt;
        REQUIRE(images && labels, "{}: attribute 'split': '{}' has no rows of {}", path_, split,
                images ? targets : "features");
        REQUIRE(rows_in(*images) == rows_in(*labels),
                "{}: attribute 'split': '{}' has {} features, but {} {}", path_, split,
                rows_in(*images), rows_in(*labels), targets);
        return SplitPlan{*images, *labels};
    }

private:
    static std::size_t rows_in(const Rows& rows) {
        return rows.list ? rows.list->size() : *rows.count;
    }

    std::vector<std::size_t> read_list(const std::string& name) const {
        constexpr std::size_t most = std::size_t{1} << 23U;
        std::vector<std::size_t> rows;
        for (const std::int64_t row : file_.array(name).wholes(most)) {
            REQUIRE(row >= 0, "{}: {}: row {}", path_, name, row);
            rows.push_back(static_cast<std::size_t>(row));
        }
        return rows;
    }

    const h5::File& file_;
    std::string path_;
    std::map<std::string, h5::Column> columns_;
    std::size_t rows_ = 0;
};

}  // namespace

std::optional<Plan> recognise_fuel(const h5::File& file) {
    if (!file.has_attribute("/", "split") || !file.has("/features")) return std::nullopt;
    const bool cifar100 = !file.has("/targets") && file.has("/fine_labels");
    const std::string targets = cifar100 ? "fine_labels" : "targets";
    SplitTable table(file);
    const auto train = table.find_split("train", targets);
    REQUIRE(train, "{}: attribute 'split' names no split 'train' of features and {}",
            file.path().string(), targets);
    Plan plan{.layout = cifar100 ? "Fuel (fine labels)" : "Fuel",
              .train = *train,
              .test = table.find_split("test", targets)};
    if (cifar100) plan.classes = 100;
    return plan;
}

}  // namespace wasp
