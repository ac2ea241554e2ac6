#include "cluster/restorable.hpp"

#include <utility>

#include "base/aligned.hpp"

namespace wasp {

/// Something that was made through the cluster; it is on the list as long as it lives.
class RestorableCluster::Part {
public:
    explicit Part(std::shared_ptr<std::vector<Part*>> list) : list_(std::move(list)) {
        list_->push_back(this);
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    virtual ~Part() { std::erase(*list_, this); }
    virtual void visit(State& state) = 0;

private:
    std::shared_ptr<std::vector<Part*>> list_;
};

namespace {

using Part = RestorableCluster::Part;
using Parts = std::shared_ptr<std::vector<Part*>>;

class RestorableWindow final : public Window, public Part {
public:
    RestorableWindow(Parts parts, std::unique_ptr<Window> window, int rank, std::size_t length)
        : Part(std::move(parts)), window_(std::move(window)), rank_(rank), length_(length) {}

    void get(int rank, std::size_t offset, std::span<float> out) override {
        window_->get(rank, offset, out);
    }
    void put(int rank, std::size_t offset, std::span<const float> in) override {
        window_->put(rank, offset, in);
    }
    void add(int rank, std::size_t offset, float scale, std::span<const float> in) override {
        window_->add(rank, offset, scale, in);
    }
    void get_all(std::span<const Source> sources) override { window_->get_all(sources); }
    void add_all(float scale, std::span<const Target> targets) override {
        window_->add_all(scale, targets);
    }
    void start_add_all(float scale, std::span<const Target> targets) override {
        window_->start_add_all(scale, targets);
    }
    void finish_adds() override { window_->finish_adds(); }

    void visit(State& state) override {
        AlignedFloats mine(length_);
        if (!state.restores()) window_->get(rank_, 0, mine);
        state.values("window", std::span(mine));
        if (state.restores()) window_->put(rank_, 0, mine);
    }

private:
    std::unique_ptr<Window> window_;
    int rank_;
    std::size_t length_;
};

class RestorableCounters final : public Counters, public Part {
public:
    RestorableCounters(Parts parts, std::unique_ptr<Counters> inner, int rank, std::size_t count)
        : Part(std::move(parts)), counters_(std::move(inner)), rank_(rank), count_(count) {}

    std::int64_t read(int rank, std::size_t index) override { return counters_->read(rank, index); }
    void read(int rank, std::size_t first, std::span<std::int64_t> out) override {
        counters_->read(rank, first, out);
    }
    std::int64_t fetch_add(int rank, std::size_t index, std::int64_t delta) override {
        return counters_->fetch_add(rank, index, delta);
    }

    void visit(State& state) override {
        std::vector<std::int64_t> mine(count_);
        if (!state.restores()) counters_->read(rank_, 0, mine);
        state.values("counters", std::span(mine));
        if (!state.restores()) return;
        for (std::size_t i = 0; i < count_; ++i)
            counters_->fetch_add(rank_, i, mine[i] - counters_->read(rank_, i));
    }

private:
    std::unique_ptr<Counters> counters_;
    int rank_;
    std::size_t count_;
};

}  // namespace

RestorableCluster::RestorableCluster(Cluster& cluster)
    : ForwardingCluster(cluster), parts_(std::make_shared<std::vector<Part*>>()) {}

std::unique_ptr<Window> RestorableCluster::make_window(std::size_t length) {
    return std::make_unique<RestorableWindow>(parts_, inner().make_window(length), rank(), length);
}

std::unique_ptr<Counters> RestorableCluster::make_counters(std::size_t count) {
    return std::make_unique<RestorableCounters>(parts_, inner().make_counters(count), rank(),
                                                count);
}

void RestorableCluster::visit(State& state) {
    for (Part* part : *parts_) part->visit(state);
}

}  // namespace wasp
