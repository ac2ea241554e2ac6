#include "run_control.hpp"

#include <fmt/format.h>

namespace wasp {

namespace {

std::int64_t nanoseconds(double seconds) {
    return static_cast<std::int64_t>(seconds * 1e9);
}

}  // namespace

RunControl::RunControl(Cluster& cluster, int workers)
    : cluster_(cluster), workers_(workers), words_(cluster.make_counters(words)) {}

void RunControl::add_everywhere(Word word, std::int64_t delta) {
    for (int rank = 0; rank < cluster_.size(); ++rank) words_->fetch_add(rank, word, delta);
}

void RunControl::stop_all() {
    add_everywhere(stop, 1);
}

void RunControl::pause_all() {
    add_everywhere(pauses, 1);
}

void RunControl::resume_all(double seconds) {
    add_everywhere(paused_ns, nanoseconds(seconds));
    add_everywhere(pauses, -1);
}

void RunControl::wait_while_paused() {
    wait_until(
        cluster_, [this] { return mine(pauses) == 0; }, [] { return "the evaluation to be over"; });
}

void RunControl::add_pause(double seconds) {
    words_->fetch_add(cluster_.rank(), paused_ns, nanoseconds(seconds));
}

void RunControl::visit(State& state) {
    for (const Word word : {samples, paused_ns}) {
        std::int64_t count = mine(word);
        state.value("word", count);
        words_->fetch_add(cluster_.rank(), word, count - mine(word));
    }
}

void RunControl::add_samples(std::int64_t count) {
    words_->fetch_add(cluster_.rank(), samples, count);
}

std::int64_t RunControl::samples_of_all() {
    std::int64_t all = 0;
    for (int rank = 0; rank < cluster_.size(); ++rank) all += words_->read(rank, samples);
    return all;
}

void RunControl::done() {
    const auto before = words_->fetch_add(keeper, finished, 1);
    if (before + 1 == workers_) words_->fetch_add(keeper, all_finished, 1);
}

void RunControl::wait_until_all_done() {
    wait_until(
        cluster_, [this] { return words_->read(keeper, all_finished) > 0; },
        [this] {
            return fmt::format("all workers to be done: {} of {} are",
                               words_->read(keeper, finished), workers_);
        },
        [this] { return samples_of_all(); });
}

}  // namespace wasp
