#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "bytes.hpp"
#include "signals.hpp"

namespace wasp {

namespace {

struct Testimony {
    Ending ending;
    int signal = 0;
};

bool weighs_more(const Ending& a, const Verdict& b) {
    return a.reason != Reason::told && static_cast<int>(a.reason) > static_cast<int>(b.reason);
}

}  // namespace

Verdict judge(Run& run, const Ending& mine) {
    ByteWriter message;
    message.add(Testimony{mine, stop_signal()});
    Verdict verdict;
    int rank = 0;
    for (const auto& bytes : run.cluster.gather(message.bytes(), run.first_worker())) {
        Testimony testimony;
        ByteReader(bytes).read(testimony);
        const Ending& ending = testimony.ending;
        if (weighs_more(ending, verdict)) {
            verdict.reason = ending.reason;
            verdict.rank = rank;
            verdict.step = ending.step;
            verdict.loss = ending.loss;
            verdict.suspect = ending.suspect;
            verdict.signal = testimony.signal;
        }
        const bool worker = rank >= run.first_worker();
        if (worker) verdict.seconds = std::max(verdict.seconds, ending.seconds);
        ++rank;
    }
    run.cluster.broadcast(std::as_writable_bytes(std::span(&verdict, 1)), run.first_worker());
    return verdict;
}

std::string_view Verdict::status() const {
    switch (reason) {
        case Reason::diverged:
            return "diverged";
        case Reason::time:
        case Reason::signal:
            return "stopped";
        default:
            return "finished";
    }
}

void Verdict::throw_if_ended_early(const std::filesystem::path& results, const Model& model,
                                   const TimeLimit& limit) const {
    if (reason == Reason::diverged) {
        const auto layer = describe(suspect, model);
        throw Error(ExitCode::diverged,
                    fmt::format("diverged: rank {} had a loss of {} at step {}{}{}; lower --lr or "
                                "the step mass; results so far: {}",
                                rank, std::isnan(loss) ? "NaN" : fmt::format("{:.4g}", loss), step,
                                layer.empty() ? "" : ": ", layer, results.string()));
    }
    if (reason != Reason::signal && reason != Reason::time) return;
    const bool failed = checkpoint == Checkpoint::failed;
    const std::string by = reason == Reason::time ? "--max-time" : std::string(signal_name(signal));
    const std::string margin = reason == Reason::time ? ", " + limit.text() : "";
    throw Error(failed ? ExitCode::fault : ExitCode::stopped,
                fmt::format("stopped by {} at step {}{}{}; {}results so far: {}", by, step, margin,
                            failed ? ", and no checkpoint of it could be written" : "",
                            checkpoint == Checkpoint::written ? "go on with --resume auto; " : "",
                            results.string()));
}

}  // namespace wasp
