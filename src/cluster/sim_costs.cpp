#include "sim_costs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace wasp {

namespace {

/// Rounds in which n meet when each round halves those that have not.
double rounds(int n) {
    return std::bit_width(static_cast<unsigned>(n - 1));
}

/// Of what costs nothing where no speed is given.
double seconds_for(std::size_t bytes, double speed) {
    return speed > 0 ? static_cast<double>(bytes) / speed : 0;
}

}  // namespace

SimCosts::SimCosts(const SimOptions& options)
    : options_(options),
      ranks_per_node_(options.machine.ranks_per_node),
      nodes_((options.ranks + ranks_per_node_ - 1) / ranks_per_node_),
      node_(static_cast<std::size_t>(nodes_)),
      rank_(static_cast<std::size_t>(options.ranks)) {
    REQUIRE(machine_.nodes == 0 || nodes_ <= machine_.nodes, "{} ranks, {} a node: {} has {} nodes",
            options.ranks, ranks_per_node_, machine_.name, machine_.nodes);
}

/// Loads and stores of the caller.
SimCosts::Call SimCosts::near(double now, int rank, std::size_t floats, double speed) {
    const double alone = seconds_for(bytes(floats), speed);
    const double together = node(rank).memory.use(now, seconds_for(bytes(floats), machine_.memory));
    const double done = now + std::max(alone, together);
    return {done, done};
}

/// When an owner has done `work` for a message that arrives then. A computing one does it between
/// two layers, and in the time of its own step.
double SimCosts::served(double arrival, Rank& owner, double now, double work) {
    const double queue = owner.service.use(now, work) - work;
    double start = arrival;
    if (arrival < owner.end) {
        owner.stolen += work;
        const double layer =
            (owner.end - owner.begin) / static_cast<double>(options_.compute.polls);
        if (!machine_.interrupts && layer > 0)
            start = std::min(owner.end,
                             owner.begin + std::ceil((arrival - owner.begin) / layer) * layer);
    }
    return start + queue + work;
}

/// A request, then the data: both links of their way are taken at once, in cut-through.
SimCosts::Call SimCosts::get(double now, int rank, int owner, std::size_t floats) {
    if (are_near(rank, owner)) return near(now, rank, floats, machine_.copy);
    const double ready = served(now + machine_.latency, at(owner), now, machine_.service);
    const double link = seconds_for(bytes(floats), machine_.bandwidth);
    const double sent = std::max(node(owner).out.use(now, link), node(rank).in.use(now, link));
    return {ready + sent, ready + sent + machine_.latency};
}

SimCosts::Call SimCosts::change(double now, int rank, int owner, std::size_t floats, double speed) {
    if (are_near(rank, owner)) return near(now, rank, floats, speed);
    const double link = seconds_for(bytes(floats), machine_.bandwidth);
    const double sent = std::max(node(rank).out.use(now, link), node(owner).in.use(now, link));
    const double effect = served(now + sent + machine_.latency, at(owner), now,
                                 machine_.service + seconds_for(bytes(floats), speed));
    return {effect, effect + machine_.latency};
}

SimCosts::Call SimCosts::put(double now, int rank, int owner, std::size_t floats) {
    return change(now, rank, owner, floats, machine_.copy);
}

SimCosts::Call SimCosts::add(double now, int rank, int owner, std::size_t floats) {
    return change(now, rank, owner, floats, machine_.add);
}

/// One's own counters are at hand.
SimCosts::Call SimCosts::count(double now, int rank, int owner, std::size_t counters) {
    if (rank == owner) return {now, now};
    if (are_near(rank, owner)) return {now + machine_.counter, now + machine_.counter};
    const double link = seconds_for(counters * sizeof(std::int64_t), machine_.bandwidth);
    const double effect = served(now + machine_.latency, at(owner), now, machine_.service);
    return {effect, effect + machine_.latency + link};
}

double SimCosts::barrier() const {
    return rounds(std::min(ranks_per_node_, options_.ranks)) * machine_.counter +
           rounds(nodes_) * (machine_.latency + machine_.service);
}

/// In a node each lays down its values, adds up its slice of everybody's and takes the result; the
/// node's memory carries that of all. Between nodes recursive doubling or a ring, whichever is
/// faster. Source: Thakur, Rabenseifner, Gropp 2005, section 4.5.
double SimCosts::sum(std::size_t bytes) const {
    const int members = std::min(ranks_per_node_, options_.ranks);
    double seconds = barrier();
    if (members > 1)
        seconds +=
            std::max(2 * seconds_for(bytes, machine_.copy) + seconds_for(bytes, machine_.add),
                     3.0 * members * seconds_for(bytes, machine_.memory));
    if (nodes_ > 1) {
        const double link = seconds_for(bytes, machine_.bandwidth);
        const double add = seconds_for(bytes, machine_.add);
        const double n = nodes_;
        seconds += std::min(rounds(nodes_) * (machine_.latency + link + add),
                            2 * (n - 1) * machine_.latency + (n - 1) / n * (2 * link + add));
    }
    return seconds;
}

/// In pieces, so that all links carry some at the same time.
double SimCosts::broadcast(std::size_t bytes) const {
    double seconds = barrier() + 2 * seconds_for(bytes, machine_.copy);
    if (nodes_ > 1) seconds += seconds_for(bytes, machine_.bandwidth);
    return seconds;
}

double SimCosts::gather(std::size_t bytes) const {
    return barrier() + seconds_for(bytes, nodes_ > 1 ? machine_.bandwidth : machine_.copy);
}

void SimCosts::computes(int rank, double begin, double end) {
    at(rank).begin = begin;
    at(rank).end = end;
}

double SimCosts::take_stolen(int rank) {
    return std::exchange(at(rank).stolen, 0);
}

}  // namespace wasp
