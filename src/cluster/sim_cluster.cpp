// Ranks are actors in virtual time: predictions, and tests of asynchronous code that are the same
// every time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/aligned.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "cluster/sim.hpp"
#include "sim_memory.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

using Bytes = std::vector<std::byte>;
using AlignedBytes = std::vector<std::byte, CacheAligned<std::byte>>;

/// One memory for all nodes: they are in one process.
struct SimNodeMemory final : NodeMemory {
    explicit SimNodeMemory(std::shared_ptr<AlignedBytes> shared) : memory(std::move(shared)) {}
    std::span<std::byte> bytes() override { return *memory; }
    std::shared_ptr<AlignedBytes> memory;
};

/// Log-normal, of mean 1.   variation: standard deviation.
double factor(RandomStream& random, double variation) {
    const double variance = std::log1p(variation * variation);
    return std::exp(std::sqrt(variance) * random.normal() - variance / 2);
}

class SimCluster final : public Cluster {
public:
    SimCluster(SimWorld& world, int rank)
        : world_(world), jitter_(world.options().seed, "jitter of a step", rank) {
        const SimCosts& costs = world.costs();
        place_.rank = rank;
        place_.ranks = world.size();
        place_.node = costs.node_of(rank);
        place_.nodes = costs.nodes();
        place_.rank_on_node = rank % costs.ranks_per_node();
        place_.ranks_on_node =
            std::min(costs.ranks_per_node(), world.size() - place_.node * costs.ranks_per_node());
        place_.host = fmt::format("node{}", place_.node);
        RandomStream node(world.options().seed, "speed of a node", place_.node);
        slowness_ = factor(node, world.options().machine.spread);
        const auto& own = world.options().compute.slowness;
        if (!own.empty()) slowness_ *= own[static_cast<std::size_t>(rank) % own.size()];
    }

    const Place& place() const override { return place_; }
    std::string description() const override {
        const Machine& machine = world_.options().machine;
        return fmt::format("virtual time, {}, {} rank{} on {} node{}: {}", machine.name, size(),
                           size() == 1 ? "" : "s", place_.nodes, place_.nodes == 1 ? "" : "s",
                           to_text(world_.options()));
    }

    void barrier() override {
        meet(nullptr, [this] { return world_.costs().barrier(); });
    }
    void sum(std::span<float> values) override {
        sum_all(values, world_.costs().bytes(values.size()));
    }
    void sum(std::span<double> values) override { sum_all(values, values.size_bytes()); }
    void broadcast(std::span<std::byte> bytes, int root) override;
    std::vector<Bytes> gather(std::span<const std::byte> bytes, int root) override;

    std::unique_ptr<Window> make_window(std::size_t length) override;
    std::unique_ptr<Counters> make_counters(std::size_t count) override;
    std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) override;

    void poll() override {}
    void yield(double /*waited_seconds*/) override { watch_.wait(world_, rank()); }
    void linger(double seconds) override { world_.sleep_until(world_.now() + seconds); }
    void compute(std::int64_t images, const std::function<void()>& work) override;
    double seconds() const override { return world_.now(); }
    bool is_virtual() const override { return true; }
    std::size_t weights_per_float() const override { return world_.options().weights_per_float; }
    /// However long a wait is in virtual time, it is in vain only when nobody can go on.
    double stall_seconds() const override {
        return world_.is_stuck() ? -1 : std::numeric_limits<double>::infinity();
    }
    void check_alive() override { world_.check_alive(); }

private:
    template <class Work>
    void meet(void* letter, Work work) {
        watch_.forget();
        world_.meet(rank(), letter, work);
    }
    template <class T>
    void sum_all(std::span<T> values, std::size_t bytes);
    /// What the last rank that comes makes, for all.   mine: for make(letters).
    template <class T, class Make>
    std::shared_ptr<T> share(std::size_t mine, Make make);

    SimWorld& world_;
    Place place_;
    RandomStream jitter_;
    double slowness_ = 1;  // of my node, and my own
    SimWatch watch_;
};

/// In the order of ranks.
template <class T>
void SimCluster::sum_all(std::span<T> values, std::size_t bytes) {
    meet(&values, [&] {
        const auto values_of = [&](std::size_t rank) {
            return *static_cast<std::span<T>*>(world_.letters()[rank]);
        };
        const std::span<T> total = values_of(0);
        const std::size_t n = world_.letters().size();
        for (std::size_t rank = 1; rank < n; ++rank) {
            if constexpr (std::is_same_v<T, float>)
                axpy(1.0F, values_of(rank), total);
            else
                for (std::size_t i = 0; i < total.size(); ++i) total[i] += values_of(rank)[i];
        }
        for (std::size_t rank = 1; rank < n; ++rank)
            std::ranges::copy(total, values_of(rank).begin());
        return world_.costs().sum(bytes);
    });
}

void SimCluster::broadcast(std::span<std::byte> bytes, int root) {
    meet(&bytes, [&] {
        const auto bytes_of = [&](std::size_t rank) {
            return *static_cast<std::span<std::byte>*>(world_.letters()[rank]);
        };
        const auto from = static_cast<std::size_t>(root);
        for (std::size_t rank = 0; rank < world_.letters().size(); ++rank)
            if (rank != from && !bytes.empty())
                std::memcpy(bytes_of(rank).data(), bytes_of(from).data(), bytes.size());
        return world_.costs().broadcast(bytes.size());
    });
}

std::vector<Bytes> SimCluster::gather(std::span<const std::byte> bytes, int root) {
    struct Letter {
        std::span<const std::byte> bytes;
        std::vector<Bytes> received;
    };
    Letter mine{bytes, {}};
    meet(&mine, [&] {
        auto& received =
            static_cast<Letter*>(world_.letters()[static_cast<std::size_t>(root)])->received;
        std::size_t total = 0;
        for (void* const letter : world_.letters()) {
            const auto sent = static_cast<Letter*>(letter)->bytes;
            received.emplace_back(sent.begin(), sent.end());
            total += sent.size();
        }
        return world_.costs().gather(total);
    });
    return std::move(mine.received);
}

template <class T, class Make>
std::shared_ptr<T> SimCluster::share(std::size_t mine, Make make) {
    struct Letter {
        std::size_t wanted;
        std::shared_ptr<T> made;
    };
    Letter letter{mine, nullptr};
    meet(&letter, [&] {
        std::vector<std::size_t> wanted;
        for (void* const one : world_.letters())
            wanted.push_back(static_cast<Letter*>(one)->wanted);
        const auto made = std::make_shared<T>(make(wanted));
        for (void* const one : world_.letters()) static_cast<Letter*>(one)->made = made;
        return world_.costs().barrier();
    });
    return letter.made;
}

std::unique_ptr<Window> SimCluster::make_window(std::size_t length) {
    const auto make = [](const std::vector<std::size_t>& lengths) {
        return SimWindowMemory{{lengths.begin(), lengths.end()}};
    };
    return std::make_unique<SimWindow>(world_, rank(), share<SimWindowMemory>(length, make));
}

std::unique_ptr<Counters> SimCluster::make_counters(std::size_t count) {
    const auto make = [](const std::vector<std::size_t>& counts) {
        return SimCountersMemory{std::vector<SimCell>(counts[0] * counts.size()), counts[0]};
    };
    return std::make_unique<SimCounters>(world_, rank(), watch_,
                                         share<SimCountersMemory>(count, make));
}

std::unique_ptr<NodeMemory> SimCluster::make_node_memory(std::size_t bytes) {
    const auto make = [](const std::vector<std::size_t>& sizes) { return AlignedBytes(sizes[0]); };
    return std::make_unique<SimNodeMemory>(share<AlignedBytes>(bytes, make));
}

/// What others want meanwhile makes it longer.
void SimCluster::compute(std::int64_t images, const std::function<void()>& work) {
    watch_.forget();
    SimThreads::Job job(world_.threads(), work);
    const ComputeTime& model = world_.options().compute;
    double seconds = (model.start + model.image * static_cast<double>(images)) * slowness_ *
                     factor(jitter_, world_.options().machine.jitter);
    if (model.pauses > 0 && jitter_.uniform() < model.pauses)
        seconds -= model.pause * std::log1p(-jitter_.uniform());
    SimCosts& costs = world_.costs();
    const double begin = world_.now();
    costs.computes(rank(), begin, begin + seconds);
    double end = begin + seconds, more = 0;
    do {
        end += more;
        world_.sleep_until(end);
        more = costs.take_stolen(rank());
    } while (more > 0);
    job.finish();
}

}  // namespace

void run_on_sim(const SimOptions& options, const std::function<void(Cluster&)>& body) {
    REQUIRE(options.ranks >= 1, "{} ranks: at least 1 is needed", options.ranks);
    SimWorld world(options);
    world.run([&](int rank) {
        SimCluster cluster(world, rank);
        body(cluster);
    });
}

}  // namespace wasp
