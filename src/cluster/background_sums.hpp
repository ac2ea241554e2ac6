/// Sums among all ranks that get on between the layers of a model, a few at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

/// Each member of a node lays down its values in memory that they share, adds up its slice of
/// everybody's, and takes the whole: as NodeTeam::sum(), but nobody waits between these. Sums are
/// taken in the order of the members, then of the nodes: the bits are those of Cluster::sum().
class TeamSums final : public BackgroundSums {
public:
    /// Start a sum among the nodes; what it returns lets it get on and says whether it is complete.
    using StartAmongNodes = std::function<std::function<bool()>(std::span<float>)>;

    static std::size_t bytes(int members, std::size_t largest);

    /// memory: bytes(), of which those of the lines are zero.   ranks: of the members.
    /// among_nodes: on the first member of each of several nodes.
    TeamSums(Cluster& cluster, std::unique_ptr<NodeMemory> memory, std::vector<int> ranks,
             std::size_t largest, StartAmongNodes among_nodes);

    void start(std::span<float> values) override;
    void advance() override;
    void finish() override;

private:
    static constexpr std::uint64_t slots = 4;  // sums that are under way at once

    struct alignas(cache_line) Line {
        std::atomic<std::uint64_t> arrived;
    };
    enum class Stage { queued, laid_down, added_up, among_nodes, done };
    struct Sum {
        std::span<float> values;
        std::uint64_t number;
        Stage stage = Stage::queued;
        std::function<bool()> among_nodes = {};
    };

    bool get_on(Sum& sum);
    void add_up(const Sum& sum);
    void take(Sum& sum);
    void arrive(Sum& sum, Stage stage);
    bool have_all_arrived(const Sum& sum, Stage stage) const;
    static std::uint64_t count_at(const Sum& sum, Stage stage);
    Line& line(const Sum& sum, std::size_t member) const;
    std::span<float> staged(const Sum& sum, std::size_t member) const;
    std::span<float> result(const Sum& sum) const { return staged(sum, members()); }
    std::size_t members() const { return ranks_.size(); }
    std::string missing() const;

    Cluster& cluster_;
    std::unique_ptr<NodeMemory> memory_;
    std::vector<int> ranks_;
    std::size_t me_, largest_;
    StartAmongNodes start_among_nodes_;
    std::deque<Sum> sums_;                // those that are not complete, in order
    std::uint64_t started_ = 0;           // sums so far
    std::uint64_t next_among_nodes_ = 0;  // the first that has not gone there
    std::int64_t progress_ = 0;
};

}  // namespace wasp
