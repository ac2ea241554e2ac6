/// The results file of a run while it is written, and what the user sees meanwhile. On the first
/// worker's rank only.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/train_config.hpp"
#include "base/stopwatch.hpp"
#include "recorder.hpp"
#include "report/progress.hpp"
#include "report/results_file.hpp"

namespace wasp {

class Journal {
public:
    /// Takes the name of the results file.   Error: as ResultsFile().
    explicit Journal(const TrainConfig& config);

    /// ranks: what is known of each before the first step. row: the writer's.
    void introduce(std::vector<RankRow> ranks, int row) {
        results_.ranks = std::move(ranks);
        row_ = static_cast<std::size_t>(row);
    }

    Results& results() { return results_; }
    const std::filesystem::path& path() const { return file_.path(); }

    /// After every step: cheap while there is nothing to do. state: called when it is to be shown.
    /// The file is written at most every 10 s.   Error: as ResultsFile::write().
    template <class State>
    void after_step(const Recorder& recorder, State state) {
        if (progress_->due()) progress_->show(state());
        if (since_write_.seconds() >= flush_every) write(recorder);
    }

    void add(const CurveRow& row, const Recorder& recorder);

    void say_checkpoint(std::int64_t step, double seconds);
    /// Go on after these rows of the curve. Nothing is written before.
    void resume(const std::vector<CurveRow>& curve, const Recorder& recorder);

    /// Where another's file has the name by now.   Error: that it has, see ResultsFile::write().
    void leave_if_taken(const Recorder& recorder) {
        if (!has_written_ || !file_.has_its_name()) write(recorder);
    }
    /// The run is over: `status`, and the results as they stand.
    void write(std::string_view status);
    /// As write("failed"), without an error of its own; what an earlier run left stays as it is
    /// where this one has written nothing.
    void write_failed() noexcept;

    /// A line that the user gets in any case.
    void note(std::string_view line) { progress_->conclude(line); }

    /// The table and the RESULT line.
    void print_end();

private:
    static constexpr double flush_every = 10;  // seconds

    void write(const Recorder& recorder);
    void write();

    ResultsFile file_;
    Results results_;
    std::optional<ProgressDisplay> progress_;
    Stopwatch since_write_;
    std::size_t row_ = 0;  // the writer's, among the ranks
    bool has_written_ = false;
};

}  // namespace wasp
