/// A cluster whose windows and counters can be written to a checkpoint and filled from it again:
/// whatever protocols keep there, they need not know of checkpoints.
#pragma once

#include <memory>
#include <vector>

#include "base/state.hpp"
#include "cluster/forwarding.hpp"

namespace wasp {

class RestorableCluster final : public ForwardingCluster {
public:
    explicit RestorableCluster(Cluster& cluster);

    /// This rank's part of all windows and counters that were made through this cluster and still
    /// exist, in the order of their making. Nobody changes them meanwhile: call barriers around it.
    void visit(State& state);

    /// For what is to be no part of checkpoints.
    Cluster& bare() { return inner(); }

    std::unique_ptr<Window> make_window(std::size_t length) override;
    std::unique_ptr<Counters> make_counters(std::size_t count) override;
    std::unique_ptr<BackgroundSums> make_background_sums(std::size_t largest) override {
        return inner().make_background_sums(largest);
    }

    class Part;  // private to src/cluster/

private:
    std::shared_ptr<std::vector<Part*>> parts_;
};

}  // namespace wasp
