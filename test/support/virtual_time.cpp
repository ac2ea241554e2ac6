#include "support/virtual_time.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.hpp"

namespace wasp::test {

double Timetable::now() {
    const std::lock_guard lock(mutex_);
    return now_;
}

void Timetable::something_changed() {
    const std::lock_guard lock(mutex_);
    ++changes_;
}

void Timetable::compute(Cluster& rank, double seconds) {
    std::unique_lock lock(mutex_);
    row(rank).state = State::ready;
    row(rank).moment = now_ + seconds;
    await_turn(lock, rank);
}

void Timetable::wait(Cluster& rank) {
    std::unique_lock lock(mutex_);
    row(rank).state = State::waiting;
    row(rank).seen = changes_;
    await_turn(lock, rank);
}

void Timetable::meet(Cluster& rank) {
    std::unique_lock lock(mutex_);
    const std::int64_t meeting = ++row(rank).meetings;
    ++changes_;
    const auto has_come = [&](const Rank& other) { return other.meetings >= meeting; };
    while (!std::ranges::all_of(ranks_, has_come)) {
        row(rank).state = State::waiting;
        row(rank).seen = changes_;
        await_turn(lock, rank);
    }
    row(rank).state = State::meeting;
    choose_next();
}

void Timetable::come_back(Cluster& rank) {
    compute(rank, 0);
}

void Timetable::leave(Cluster& rank) {
    const std::lock_guard lock(mutex_);
    row(rank).state = State::gone;
    choose_next();
}

void Timetable::await_turn(std::unique_lock<std::mutex>& lock, Cluster& rank) {
    constexpr std::chrono::milliseconds between_looks{20};
    choose_next();
    while (row(rank).state != State::running) {
        ENSURE(!stuck_, "rank {} waits in vain: so do all others", rank.rank());
        row(rank).chosen.wait_for(lock, between_looks);
        rank.check_alive();
    }
}

void Timetable::choose_next() {
    const auto is = [](State state) { return [=](const Rank& r) { return r.state == state; }; };
    if (std::ranges::any_of(ranks_, is(State::running))) return;
    Rank* const chosen = next();
    if (chosen == nullptr) {
        stuck_ = std::ranges::none_of(ranks_, is(State::meeting)) &&
                 std::ranges::any_of(ranks_, is(State::waiting));
        return;
    }
    chosen->state = State::running;
    chosen->chosen.notify_one();
}

/// Who waits looks first whether what has changed is what it waits for; then time moves on, unless
/// some are still to come back from where all have met.
Timetable::Rank* Timetable::next() {
    Rank* earliest = nullptr;
    bool all_are_back = true;
    for (Rank& rank : ranks_) {
        if (rank.state == State::waiting && rank.seen < changes_) return &rank;
        if (rank.state == State::meeting) all_are_back = false;
        if (rank.state == State::ready && (earliest == nullptr || rank.moment < earliest->moment))
            earliest = &rank;
    }
    if (!all_are_back || earliest == nullptr) return nullptr;
    now_ = earliest->moment;
    return earliest;
}

namespace {

/// Whatever a rank waits for is a counter.
class WatchedCounters final : public Counters {
public:
    WatchedCounters(std::unique_ptr<Counters> counters, Timetable& timetable)
        : counters_(std::move(counters)), timetable_(timetable) {}

    std::int64_t read(int rank, std::size_t index) override { return counters_->read(rank, index); }
    void read(int rank, std::size_t first, std::span<std::int64_t> out) override {
        counters_->read(rank, first, out);
    }
    std::int64_t fetch_add(int rank, std::size_t index, std::int64_t delta) override {
        timetable_.something_changed();
        return counters_->fetch_add(rank, index, delta);
    }

private:
    std::unique_ptr<Counters> counters_;
    Timetable& timetable_;
};

}  // namespace

template <class Call>
auto VirtualCluster::together(Call call) {
    timetable_.meet(inner());
    if constexpr (std::is_void_v<decltype(call())>) {
        call();
        timetable_.come_back(inner());
    } else {
        auto result = call();
        timetable_.come_back(inner());
        return result;
    }
}

void VirtualCluster::barrier() {
    together([&] { inner().barrier(); });
}

void VirtualCluster::sum(std::span<float> values) {
    together([&] { inner().sum(values); });
}

void VirtualCluster::sum(std::span<double> values) {
    together([&] { inner().sum(values); });
}

void VirtualCluster::broadcast(std::span<std::byte> bytes, int root) {
    together([&] { inner().broadcast(bytes, root); });
}

std::vector<std::vector<std::byte>> VirtualCluster::gather(std::span<const std::byte> bytes,
                                                           int root) {
    return together([&] { return inner().gather(bytes, root); });
}

std::unique_ptr<Window> VirtualCluster::make_window(std::size_t length) {
    return together([&] { return inner().make_window(length); });
}

std::unique_ptr<Counters> VirtualCluster::make_counters(std::size_t count) {
    return together([&] {
        return std::make_unique<WatchedCounters>(inner().make_counters(count), timetable_);
    });
}

std::unique_ptr<NodeMemory> VirtualCluster::make_node_memory(std::size_t bytes) {
    return together([&] { return inner().make_node_memory(bytes); });
}

void run_in_virtual_time(int ranks, const std::function<void(VirtualCluster&)>& body) {
    Timetable timetable(ranks);
    run_on_threads(ranks, [&](Cluster& real) {
        VirtualCluster cluster(real, timetable);
        body(cluster);
    });
}

}  // namespace wasp::test
