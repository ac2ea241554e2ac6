/// Some ranks of a cluster as a cluster of their own: so a protocol runs inside a group of ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/state.hpp"
#include "cluster/forwarding.hpp"

namespace wasp {

/// All ranks make one together, each for the ranks that it belongs with; what they then make of it
/// (windows, counters) all make together, too, whatever cluster they are in.
class SubCluster final : public ForwardingCluster {
public:
    /// Collective over `whole`. members: ranks of `whole`, ascending, this one among them; a rank
    /// is in one sub-cluster only.   longest: floats that are summed or broadcast at once.
    SubCluster(Cluster& whole, std::vector<int> members, std::size_t longest);

    const Place& place() const override { return place_; }

    // Of the members only.
    void barrier() override;
    void sum(std::span<float> values) override;
    void sum(std::span<double> values) override;
    void broadcast(std::span<std::byte> bytes, int root) override;
    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes, int root) override;

    // Of all ranks of the whole cluster.
    std::unique_ptr<Window> make_window(std::size_t length) override;
    std::unique_ptr<Counters> make_counters(std::size_t count) override;

    void visit(State& state) { state.value("meetings", meetings_); }

private:
    template <class Number>
    void sum_all(std::span<Number> values);

    std::vector<int> members_;
    Place place_;
    std::size_t longest_;
    std::unique_ptr<Window> desk_;  // what each lays out for the others to read
    std::unique_ptr<Counters> arrivals_;
    std::int64_t meetings_ = 0;
};

}  // namespace wasp
