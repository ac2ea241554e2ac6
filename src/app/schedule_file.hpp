/// The order in which the workers of a run pushed and pulled, as a text file: --record-schedule
/// writes it, --replay follows it.
///     wasp schedule 3
///     protocol SPEC
///     length WHAT N          as the option: updates 500
///     steps N N …            made by each rank, 0 by servers
///     turns R R …            whose turn it was, by rank; any number of such lines
///     end CHECKSUM           of all before: a part of a schedule, or another order, is none
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/train_config.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

struct Schedule {
    std::string protocol, length;
    std::vector<std::int64_t> steps;
    std::vector<int> turns;
};

/// The length of a run as its option: "updates 500".
std::string length_in_words(const TrainConfig& config);

/// Collective; rank 0 reads.   Error: can't be read, or is no schedule, says where; is of another
/// protocol, another length or another number of
/// ranks.
Schedule read_schedule(Cluster& cluster, const std::filesystem::path& path,
                       const std::string& protocol, const std::string& length);

/// replaces: what a run that was stopped left there.   Error: exists, or can't be written.
void write_schedule(const std::filesystem::path& path, const Schedule& schedule, bool replaces);

/// Collective. The schedule of a run, on rank `root`; elsewhere empty.   turns: the numbers of this
/// rank's, ascending.
Schedule gather_schedule(Cluster& cluster, const std::string& protocol, const std::string& length,
                         std::int64_t steps, std::span<const std::int64_t> turns, int root);

}  // namespace wasp
