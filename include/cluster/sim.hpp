/// Ranks in virtual time: actors of one process that take turns, on a machine that is a model.
/// docs/decisions/0008-virtual-time.md says what the model is, and what it leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"

namespace wasp {

/// What a machine can do. Bytes are counted in a second, one way.
struct Machine {
    std::string name = "ideal";
    std::string sources = {};  ///< of the figures, for people
    int nodes = 0;             ///< 0: as many as the ranks need
    int ranks_per_node = 1;

    // Between nodes.
    double bandwidth = 0;    ///< bytes/s of a node's link
    double latency = 0;      ///< s, of a message
    double service = 0;      ///< s that an owner takes to serve one
    bool interrupts = true;  ///< a computing owner serves at once; else between two layers

    // Within a node.
    double counter = 0;  ///< s, of an operation on another rank's counter
    double copy = 0;     ///< bytes/s of a rank that pulls
    double add = 0;      ///< bytes/s of a rank that pushes
    double memory = 0;   ///< bytes/s of all ranks of a node together

    // Of a rank.
    double flops = 0;        ///< float32 operations a second at most
    double small_share = 1;  ///< of them that a step of a LeNet reaches
    double deep_share = 1;   ///< … of a ResNet
    double jitter = 0;       ///< of the time of a step: standard deviation over mean; log-normal
    double spread = 0;       ///< of the speed of nodes, likewise
};

/// Of one gradient of a mini-batch, without jitter: start + images · image, in seconds.
struct ComputeTime {
    double start = 0, image = 0;
    double pauses = 0, pause = 0;  ///< share of steps that something else holds up; seconds, mean
                                   ///< of an exponential distribution
    std::int64_t polls = 1;  ///< how often a rank looks meanwhile whether others want something
    std::vector<double> slowness = {};  ///< factors of ranks, which take turns; empty: all alike
};

struct SimOptions {
    int ranks = 1;
    Machine machine = {};
    ComputeTime compute = {};
    std::uint64_t seed = 1;
    int threads = 1;  ///< of this process, that compute for ranks; the bits are the same
    std::size_t weights_per_float = 1;  ///< a divisor of Window::block
};

/// "tianhe2", "xeon-ib" or "ethernet".   Error: unknown; names the nearest.
Machine machine_preset(std::string_view name);

/// A platform file of SimGrid, with the machine's nodes as hosts, and what SimGrid has no word for
/// as their properties.   machine: its nodes are known.
std::string platform_xml(const Machine& machine);

/// What platform_xml() wrote, or another file whose hosts have these properties: speeds, cores and
/// links are those of the first two hosts. Before anything runs in virtual time; one a process.
/// Error: missing, broken, or a property is missing.
Machine read_platform(const std::string& path);

/// All figures as `name=value`, for results files.
std::string to_text(const SimOptions& options);

/// Run `body` once per rank, each rank an actor. The same run to the bit every time: whoever is
/// next in virtual time runs until it has to wait. Memory changes at the moment at which the model
/// says that a call arrives at its target.   Error: that of the first rank that fails; when nobody
/// can go on, one that names who waits for whom.
void run_on_sim(const SimOptions& options, const std::function<void(Cluster&)>& body);

}  // namespace wasp
