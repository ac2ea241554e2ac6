/// A cluster whose windows and counters can be written to a checkpoint and filled from it again:
/// whatever protocols keep there, they need not know of checkpoints.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/state.hpp"
#include "cluster/cluster.hpp"

namespace wasp {

class RestorableCluster final : public Cluster {
public:
    explicit RestorableCluster(Cluster& cluster);
    ~RestorableCluster() override;
    RestorableCluster(const RestorableCluster&) = delete;
    RestorableCluster& operator=(const RestorableCluster&) = delete;

    /// This rank's part of all windows and counters that were made through this cluster and still
    /// exist, in the order of their making. Nobody changes them meanwhile: call barriers around it.
    void visit(State& state);

    /// For what is to be no part of checkpoints.
    Cluster& bare() { return cluster_; }

    std::unique_ptr<Window> make_window(std::size_t length) override;
    std::unique_ptr<Counters> make_counters(std::size_t count) override;

    const Place& place() const override { return cluster_.place(); }
    std::string description() const override { return cluster_.description(); }
    void barrier() override { cluster_.barrier(); }
    void sum(std::span<float> values) override { cluster_.sum(values); }
    void sum(std::span<double> values) override { cluster_.sum(values); }
    void broadcast(std::span<std::byte> bytes, int root) override {
        cluster_.broadcast(bytes, root);
    }
    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes,
                                               int root) override {
        return cluster_.gather(bytes, root);
    }
    std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) override {
        return cluster_.make_node_memory(bytes);
    }
    std::unique_ptr<BackgroundSums> make_background_sums(std::size_t largest) override {
        return cluster_.make_background_sums(largest);
    }
    void poll() override { cluster_.poll(); }
    void yield(double waited_seconds) override { cluster_.yield(waited_seconds); }
    double seconds() const override { return cluster_.seconds(); }
    void check_alive() override { cluster_.check_alive(); }

    class Part;  // private to src/cluster/

private:
    Cluster& cluster_;
    std::shared_ptr<std::vector<Part*>> parts_;
};

}  // namespace wasp
