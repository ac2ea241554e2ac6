/// What a run leaves behind: one HDF5 file with the schema of docs/RESULTS.md. Rank 0 writes.
/// Crash-safe: every flush writes a whole new file aside, syncs and renames it over the old one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace wasp {

using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;
using Attributes = std::map<std::string, Attribute>;

struct CurveRow {  ///< one evaluation
    double seconds = 0, epoch = 0;
    std::int64_t samples = 0, version = 0;
    double train_loss = 0, test_loss = 0, test_accuracy = 0, learning_rate = 0;
};

struct StepRow {  ///< one step of one rank; seconds since the start of training
    double seconds = 0;
    float loss = 0, weight = 1;
    std::int64_t version = 0, staleness = 0;
    double compute = 0, pull = 0, push = 0, wait = 0, poll = 0;
    double divergence = std::numeric_limits<double>::quiet_NaN();  ///< see Exchange
};

struct RankRow {
    std::string host;
    int node = 0, threads = 1;
    std::int64_t samples = 0, updates = 0;
    double compute = 0, pull = 0, push = 0, wait = 0, poll = 0, data = 0;  ///< seconds
    std::int64_t bytes = 0, dropped = 0;
    std::vector<std::int64_t> staleness;  ///< histogram: count per s of every push of the rank
    std::vector<StepRow> steps;           ///< every record_every-th, beginning with the first
    int socket = -1;                      ///< -1: unknown, or not bound to one
    std::string cpus;                     ///< that it is bound to, e.g. "0-3"
    double weight_sum = 0;                ///< Σ w over the rank's updates
    double divergence_sum = 0;            ///< over the steps that have one
    std::int64_t synchronisations = 0;    ///< how many have one
    double held_up = 0;                   ///< seconds, by --straggler; part of compute
};

struct ModelRow {      ///< one of the final models
    std::string name;  ///< "shared", "rank 2", "best", "mean", "ensemble"
    double validation_loss = 0, test_loss = 0, test_accuracy = 0;
};

struct Results {
    std::string status = "running";  ///< running|finished|stopped|failed|diverged
    Attributes config, provenance, summary;
    std::vector<CurveRow> curve;
    std::vector<RankRow> ranks;
    std::vector<ModelRow> models;
    std::int64_t record_every = 1;  ///< thinning of RankRow::steps
};

/// What is done when there is a file of that name.
enum class IfTaken {
    refuse,
    number,  ///< run-2.h5, run-3.h5, … is tried; see ResultsFile::path()
    replace
};

class ResultsFile {
public:
    /// Takes the name: creates the file at once, with status "running" and no rows. What is to be
    /// replaced stays until the first write().
    /// Error: it exists, or its folder is missing or can't be written to (exit code 2); the disk is
    /// full (1).
    ResultsFile(const std::filesystem::path& path, IfTaken taken);

    /// Error: the disk is full or the like, with the path (exit code 1); the last complete file
    /// stays. Or another's file has the name by now: it stays as it is, and these results, now and
    /// later, are in the file that path() and the error name (1).
    void write(const Results& results);

    const std::filesystem::path& path() const { return path_; }
    /// Whether its name is still that of the file as written last, and not another's.
    bool has_its_name() const { return identity_of(path_) == mine_; }

    /// Which file has a name; empty: none.
    struct Identity {
        std::uint64_t device = 0, inode = 0;
        bool operator==(const Identity&) const = default;
    };
    static std::optional<Identity> identity_of(const std::filesystem::path& path);

private:
    /// The file that has the name now is mine. It is held open: else its inode would go to another
    /// file as soon as it is removed.
    void remember();

    std::filesystem::path path_;
    std::optional<Identity> mine_;  // of the file as written last
    std::shared_ptr<const int> held_;
};

/// By another process than the one that writes, which is lost: where the file has the status
/// "running" it becomes "failed". Without an error of its own.
void mark_failed(const std::filesystem::path& path) noexcept;

/// with_steps: RankRow::steps too, which is most of the file.
/// Error: missing, broken or not a results file, with the reason (exit code 2).
Results read_results(const std::filesystem::path& path, bool with_steps = true);

}  // namespace wasp
