#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "bytes.hpp"
#include "cluster/launcher.hpp"
#include "core_share.hpp"
#include "examination.hpp"
#include "report/provenance.hpp"

namespace wasp {

namespace {

/// Where a rank is, and what it has there.
struct Seat {
    struct Numbers {
        int rank = 0, node = 0, nodes = 1, ranks_on_node = 1, threads = 1;
        CoreShare share;
    } numbers;
    std::string host, cpus;
};

/// On rank 0, by rank.
std::vector<Seat> gather_seats(Cluster& cluster, std::optional<int> threads) {
    const CoreShare share = share_cores(cluster);
    const Place& place = cluster.place();
    ByteWriter message;
    message.add(Seat::Numbers{place.rank, place.node, place.nodes, place.ranks_on_node,
                              threads.value_or(share.threads()), share});
    message.add(place.host);
    message.add(bound_cpus());
    std::vector<Seat> seats;
    for (const auto& bytes : cluster.gather(message.bytes(), 0)) {
        ByteReader reader(bytes);
        auto& seat = seats.emplace_back();
        reader.read(seat.numbers);
        reader.read(seat.host);
        reader.read(seat.cpus);
    }
    return seats;
}

/// What started this process, and how its MPI was told of the others.
std::string launcher() {
    const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
    const std::string pmi = is_set("PMIX_RANK")                      ? "PMIx"
                            : is_set("PMI_FD") || is_set("PMI_RANK") ? "PMI"
                                                                     : "no PMI";
    if (launched_ranks() <= 1 && pmi == "no PMI") return "none: this process by itself";
    const bool by_slurm =
        is_set("SLURM_STEP_ID") && !is_set("MPI_LOCALNRANKS") && !is_set("OMPI_COMM_WORLD_SIZE");
    return fmt::format("{}, {} process(es), {}", by_slurm ? "srun" : "mpiexec", launched_ranks(),
                       pmi);
}

void judge_rank(const Seat& seat, Examination& result) {
    const auto& mine = seat.numbers;
    if (mine.threads > mine.share.cores)
        result.bad.push_back(
            fmt::format("rank {} on {} has {} threads and may use {} core(s): give it more (srun "
                        "--cpus-per-task), or fewer --threads",
                        mine.rank, seat.host, mine.threads, mine.share.cores));
}

void judge_node(const Seat& first, Examination& result) {
    const auto& mine = first.numbers;
    if (is_single_core(mine.share, mine.ranks_on_node)) {
        result.bad.push_back(single_core(mine.share, mine.ranks_on_node, first.host));
        return;
    }
    const auto crowded = crowding(mine.share, mine.ranks_on_node, mine.threads, first.host);
    if (!crowded.empty())
        result.advice.push_back(crowded + "; start fewer");
    else if (mine.share.ranks > 1)
        result.advice.push_back(
            fmt::format("{} ranks on {} may use the same cores: bind each to its own (srun "
                        "--cpu-bind=cores, mpiexec -bind-to core:{})",
                        mine.share.ranks, first.host, mine.threads));
}

/// Synchronous protocols wait for the slowest.
void judge_differences(const std::vector<Seat>& seats, Examination& result) {
    const auto& first = seats.front().numbers;
    const auto other = std::ranges::find_if(seats, [&](const Seat& seat) {
        return seat.numbers.ranks_on_node != first.ranks_on_node ||
               seat.numbers.share.cores != first.share.cores;
    });
    if (other == seats.end()) return;
    const auto& theirs = other->numbers;
    result.advice.push_back(fmt::format(
        "ranks differ: {} on {} has {} core(s) and {} rank(s) on its node, rank 0 {} and {}",
        theirs.rank, other->host, theirs.share.cores, theirs.ranks_on_node, first.share.cores,
        first.ranks_on_node));
}

}  // namespace

Examination examine_places(Cluster& cluster, std::optional<int> threads) {
    const auto seats = gather_seats(cluster, threads);
    Examination result;
    if (seats.empty()) return result;
    result.seen.push_back(fmt::format("{}: {} rank(s) on {} node(s)", cluster.description(),
                                      seats.size(), seats.front().numbers.nodes));
    result.seen.push_back("launcher: " + launcher());
    result.seen.emplace_back("rank  node  host              cores  threads  CPUs");
    std::set<int> nodes;
    for (const Seat& seat : seats) {
        const auto& numbers = seat.numbers;
        result.seen.push_back(fmt::format("{:>4}  {:>4}  {:<16}  {:>5}  {:>7}  {}", numbers.rank,
                                          numbers.node, seat.host, numbers.share.cores,
                                          numbers.threads, seat.cpus));
        judge_rank(seat, result);
        if (nodes.insert(numbers.node).second) judge_node(seat, result);
    }
    judge_differences(seats, result);
    return result;
}

}  // namespace wasp
