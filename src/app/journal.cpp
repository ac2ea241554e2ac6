#include "journal.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "output.hpp"
#include "report/tables.hpp"

namespace wasp {

Journal::Journal(const TrainConfig& config)
    : file_(config.out, !config.resume.empty() ? IfTaken::replace
                        : config.unique        ? IfTaken::number
                                               : IfTaken::refuse),
      progress_(std::in_place, config.progress) {}

void Journal::add(const CurveRow& row, const Recorder& recorder) {
    results_.curve.push_back(row);
    progress_->say(fmt::format("epoch {:.2f}  {:.1f} s  accuracy {:.2f} %  loss {:.4f}", row.epoch,
                               row.seconds, 100 * row.test_accuracy, row.test_loss));
    write(recorder);
}

void Journal::say_checkpoint(std::int64_t step, double seconds) {
    progress_->say(fmt::format("checkpoint at step {} ({:.2f} s)", step, seconds));
}

void Journal::write(const Recorder& recorder) {
    results_.ranks.at(row_) = recorder.row();
    write();
    since_write_.lap();
}

void Journal::write(std::string_view status) {
    results_.status = status;
    write();
}

void Journal::write() {
    file_.write(results_);
    has_written_ = true;
}

void Journal::resume(const std::vector<CurveRow>& curve, const Recorder& recorder) {
    results_.curve = curve;
    write(recorder);
}

void Journal::write_failed() noexcept {
    if (!has_written_) return;
    try {
        write("failed");
    } catch (const std::exception&) {
        // what went wrong first is what the user is told
    }
}

void Journal::print_end() {
    progress_.reset();  // its line is taken back
    say(final_report(results_, file_.path()) + "\n");
}

}  // namespace wasp
