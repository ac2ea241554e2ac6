/// What `wasp bench step|store --calibrate FILE` measured, for predictions: a TOML file with a
/// table a measurement. A later one of the same thing replaces the earlier.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace wasp {

struct Calibration {
    struct Step {
        std::string model;
        std::int64_t batch = 1, threads = 1;
        double seconds = 0, jitter = 0;  ///< mean; standard deviation over mean
        double pauses = 0, pause = 0;    ///< as in ComputeTime: steps that are not in the mean
        std::int64_t polls = 1;          ///< in a step
        /// Mean step of each rank over that of all, measured at once. Empty: of one process.
        std::vector<double> slowness = {};
    };
    struct Store {
        std::int64_t floats = 1, ranks = 1;
        double pull = 0, push = 0;  ///< bytes/s of a rank, while all of a node move as much
        double counter = 0;         ///< s, of an operation on another rank's counter
    };
    std::vector<Step> steps;
    std::vector<Store> stores;

    void add(const Step& step);
    void add(const Store& store);
};

/// Error: missing, or not such a file.
Calibration read_calibration(const std::filesystem::path& path);

/// The same for a file that may not be there yet; add `one`; write it.
template <class Measurement>
void calibrate(const std::filesystem::path& path, const Measurement& one);

}  // namespace wasp
