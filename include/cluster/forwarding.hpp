/// A cluster around another one, for those that change a part of what it does: all calls are passed
/// on, but make_background_sums(), which is made of the sum() of whoever derives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"

namespace wasp {

class ForwardingCluster : public Cluster {
public:
    const Place& place() const override { return inner_.place(); }
    std::string description() const override { return inner_.description(); }
    void barrier() override { inner_.barrier(); }
    void sum(std::span<float> values) override { inner_.sum(values); }
    void sum(std::span<double> values) override { inner_.sum(values); }
    void broadcast(std::span<std::byte> bytes, int root) override { inner_.broadcast(bytes, root); }
    std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes,
                                               int root) override {
        return inner_.gather(bytes, root);
    }
    std::unique_ptr<Window> make_window(std::size_t length) override {
        return inner_.make_window(length);
    }
    std::unique_ptr<Counters> make_counters(std::size_t count) override {
        return inner_.make_counters(count);
    }
    std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) override {
        return inner_.make_node_memory(bytes);
    }
    void poll() override { inner_.poll(); }
    void yield(double waited_seconds) override { inner_.yield(waited_seconds); }
    void linger(double seconds) override { inner_.linger(seconds); }
    void compute(std::int64_t images, const std::function<void()>& work) override {
        inner_.compute(images, work);
    }
    double seconds() const override { return inner_.seconds(); }
    bool is_virtual() const override { return inner_.is_virtual(); }
    std::size_t weights_per_float() const override { return inner_.weights_per_float(); }
    double stall_seconds() const override { return inner_.stall_seconds(); }
    void check_alive() override { inner_.check_alive(); }
    Heartbeats& heartbeats() override { return inner_.heartbeats(); }

protected:
    /// inner: outlives this one, whose waits take as long as its.
    explicit ForwardingCluster(Cluster& inner) : inner_(inner) {}
    Cluster& inner() { return inner_; }

private:
    Cluster& inner_;
};

}  // namespace wasp
