/// --max-time: when a run has to stop so that its checkpoint is on disk in time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/stopwatch.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

/// "01:30:00", "1-12:00:00" (days first), "90min", "2h" or "45seconds", in seconds.
/// Error: anything else.
double parse_duration(std::string_view text);

/// Error: neither "auto" nor a duration.
void check_time_limit(std::string_view text);

/// What Slurm leaves to this job, in seconds, 0 if nothing; empty where its partition has no limit.
/// Error: there is no job, or Slurm does not answer.
std::optional<double> slurm_time_left();

class TimeLimit {
public:
    /// Collective. text: "" (none), "auto" or a duration, which counts from the start of the
    /// process of rank 0.   bytes: of a checkpoint, about: until one was measured. Error: as
    /// slurm_time_left().
    TimeLimit(Cluster& cluster, const std::string& text, double bytes);

    bool is_set() const { return seconds_.has_value(); }

    /// Before every step: whether it is time to stop; then it stays so.
    bool is_up();

    /// How long one took, from the call of all ranks until the file was there.
    void measured_checkpoint(double seconds);

    /// Seconds before the end that a run stops at: twice a checkpoint, twice the longest step so
    /// far, and a hundredth of the time, at most 10 s, for what comes then.
    double margin() const;

    /// "12 s before the time is up (a checkpoint takes …)": for the user.
    std::string text() const;

private:
    std::optional<double> seconds_;  // of this object, until the limit
    double checkpoint_;              // seconds
    bool is_measured_ = false, is_up_ = false;
    double longest_step_ = 0, last_ = 0;
    Stopwatch watch_;
};

}  // namespace wasp
