// Ranks are threads of one process: for tests, sanitizers and machines without MPI.
#include <unistd.h>

#include <atomic>
#include <exception>
#include <numeric>
#include <thread>

#include "background_sums.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "cluster/cluster.hpp"
#include "cluster/ending.hpp"
#include "cores.hpp"
#include "node_team.hpp"
#include "node_window.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

using Bytes = std::vector<std::byte>;
using AlignedBytes = std::vector<std::byte, CacheAligned<std::byte>>;

struct World {
    explicit World(int size)
        : ranks(size),
          cores(count(usable_cores())),
          team_memory(NodeTeam::bytes(size)),
          letters(static_cast<std::size_t>(size)),
          heartbeats(static_cast<std::size_t>(size)) {}

    int ranks;
    int cores;
    AlignedBytes team_memory;
    std::vector<std::span<const std::byte>> letters;  // for gather(): what each rank sends
    std::vector<HeartbeatRecord> heartbeats;
    std::atomic<bool> failed{false};
    Stopwatch clock;
};

/// A window as a whole: the parts of all ranks.
struct WindowMemory {
    struct Part {
        explicit Part(std::size_t length) : floats(length), locks(BlockMemory::locks_for(length)) {}
        AlignedFloats floats;
        std::vector<BlockLock> locks;
    };
    explicit WindowMemory(const std::vector<std::uint64_t>& lengths)
        : parts(lengths.begin(), lengths.end()) {}
    std::vector<Part> parts;
};

struct ThreadNodeMemory final : NodeMemory {
    explicit ThreadNodeMemory(std::shared_ptr<AlignedBytes> shared) : memory(std::move(shared)) {}
    std::span<std::byte> bytes() override { return *memory; }
    std::shared_ptr<AlignedBytes> memory;
};

class ThreadCluster final : public Cluster {
public:
    ThreadCluster(World& world, int rank)
        : world_(world),
          place_{.rank = rank,
                 .ranks = world.ranks,
                 .rank_on_node = rank,
                 .ranks_on_node = world.ranks},
          team_(*this, world.team_memory.data(), all_ranks(world.ranks), rank),
          heartbeats_(world.heartbeats,
                      {static_cast<std::size_t>(world.ranks), {place_.host, getpid()}}, rank) {}

    const Place& place() const override { return place_; }
    std::string description() const override {
        return fmt::format("{} thread{}", size(), size() == 1 ? "" : "s");
    }

    void barrier() override { team_.barrier(); }
    void sum(std::span<float> values) override { team_.sum(values); }
    void sum(std::span<double> values) override { team_.sum(values); }
    void broadcast(std::span<std::byte> bytes, int root) override { team_.broadcast(bytes, root); }
    std::vector<Bytes> gather(std::span<const std::byte> bytes, int root) override;

    std::unique_ptr<Window> make_window(std::size_t length) override;
    std::unique_ptr<Counters> make_counters(std::size_t count) override;
    std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) override;
    std::unique_ptr<BackgroundSums> make_background_sums(std::size_t largest) override;

    void poll() override {}
    void yield(double waited_seconds) override { take_turns(size(), world_.cores, waited_seconds); }
    double seconds() const override { return world_.clock.seconds(); }
    void check_alive() override {
        if (world_.failed.load()) throw OtherRankFailed();
        heartbeats_.check(seconds(), stall_seconds());
    }
    Heartbeats& heartbeats() override { return heartbeats_; }

private:
    static std::vector<int> all_ranks(int ranks) {
        std::vector<int> all(static_cast<std::size_t>(ranks));
        std::iota(all.begin(), all.end(), 0);
        return all;
    }

    /// What rank 0 makes, for all. Collective.
    template <class T, class Make>
    std::shared_ptr<T> share(Make make) {
        std::shared_ptr<T> made;
        if (rank() == 0) made = std::make_shared<T>(make());
        const auto offers = team_.exchange(reinterpret_cast<std::uintptr_t>(&made));
        if (rank() != 0) made = *reinterpret_cast<std::shared_ptr<T>*>(offers[0]);
        team_.barrier();  // rank 0 keeps its pointer until all have theirs
        return made;
    }

    World& world_;
    Place place_;
    NodeTeam team_;
    Heartbeats heartbeats_;
};

std::vector<Bytes> ThreadCluster::gather(std::span<const std::byte> bytes, int root) {
    world_.letters[static_cast<std::size_t>(rank())] = bytes;
    team_.barrier();
    std::vector<Bytes> received;
    if (rank() == root)
        for (const auto letter : world_.letters)
            received.emplace_back(letter.begin(), letter.end());
    team_.barrier();  // `bytes` is the caller's again only when root has read it
    return received;
}

std::unique_ptr<Window> ThreadCluster::make_window(std::size_t length) {
    const auto lengths = team_.exchange(length);
    auto memory = share<WindowMemory>([&] { return WindowMemory(lengths); });
    std::vector<BlockMemory> parts;
    for (auto& part : memory->parts) parts.emplace_back(part.floats, part.locks);
    return std::make_unique<NodeWindow>(*this, std::move(parts), memory);
}

std::unique_ptr<Counters> ThreadCluster::make_counters(std::size_t count) {
    const auto total = count * static_cast<std::size_t>(size());
    auto memory = share<std::vector<Counter>>([&] { return std::vector<Counter>(total); });
    std::vector<std::span<Counter>> parts;
    for (std::size_t at = 0; at < total; at += count)
        parts.push_back(std::span(*memory).subspan(at, count));
    return std::make_unique<NodeCounters>(std::move(parts), memory);
}

std::unique_ptr<NodeMemory> ThreadCluster::make_node_memory(std::size_t bytes) {
    return std::make_unique<ThreadNodeMemory>(
        share<AlignedBytes>([&] { return AlignedBytes(bytes); }));
}

std::unique_ptr<BackgroundSums> ThreadCluster::make_background_sums(std::size_t largest) {
    return std::make_unique<TeamSums>(*this, make_node_memory(TeamSums::bytes(size(), largest)),
                                      all_ranks(size()), largest, nullptr);
}

}  // namespace

void run_on_threads(int ranks, const std::function<void(Cluster&)>& body) {
    REQUIRE(ranks >= 1, "{} ranks: at least 1 is needed", ranks);
    World world(ranks);
    std::exception_ptr first_failure;
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] {
                try {
                    use_threads(1);
                    ThreadCluster cluster(world, rank);
                    body(cluster);
                } catch (...) {
                    if (!world.failed.exchange(true)) first_failure = std::current_exception();
                }
            });
    }
    if (first_failure) std::rethrow_exception(first_failure);
}

}  // namespace wasp
