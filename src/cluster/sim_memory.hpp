/// Windows and counters in virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "sim_world.hpp"

namespace wasp {

/// What lies on one rank, and the calls that are on their way to it: each takes effect at its
/// moment, and those of the same moment in the order in which they were made.
class SimPart {
public:
    explicit SimPart(std::size_t length) : floats_(length) {}

    struct Effect {
        double moment;
        enum class Kind { get, put, add } kind;
        std::size_t offset;
        float scale;
        std::span<const float> in;         // of put and add
        std::span<float> out;              // of get
        std::shared_ptr<void> keeps = {};  // what `in` is part of
    };

    void expect(Effect effect);
    /// Let all happen that is due by then.
    void catch_up(double now);
    /// At once, whatever its moment.
    void apply(const Effect& effect);

private:
    struct Numbered {
        std::uint64_t number;
        Effect effect;
        bool operator<(const Numbered& other) const {  // of a queue whose greatest comes first
            if (effect.moment != other.effect.moment) return effect.moment > other.effect.moment;
            return number > other.number;
        }
    };

    AlignedFloats floats_;
    std::priority_queue<Numbered> queue_;
    std::uint64_t next_ = 0;
};

/// Of all ranks.
struct SimWindowMemory {
    std::vector<SimPart> parts;
};

class SimWindow final : public Window {
public:
    SimWindow(SimWorld& world, int me, std::shared_ptr<SimWindowMemory> memory)
        : world_(world), me_(me), memory_(std::move(memory)) {}

    void get(int rank, std::size_t offset, std::span<float> out) override;
    void put(int rank, std::size_t offset, std::span<const float> in) override;
    void add(int rank, std::size_t offset, float scale, std::span<const float> in) override;
    void get_all(std::span<const Source> sources) override;
    void add_all(float scale, std::span<const Target> targets) override;
    void start_add_all(float scale, std::span<const Target> targets) override;
    void finish_adds() override;

private:
    void start(int rank, SimCosts::Call call, SimPart::Effect effect);
    void finish();
    SimPart& part(int rank) { return memory_->parts.at(static_cast<std::size_t>(rank)); }

    SimWorld& world_;
    int me_;
    std::shared_ptr<SimWindowMemory> memory_;
    double done_ = 0;           // when all that was started is complete
    std::vector<int> touched_;  // ranks that it was sent to
};

/// A counter, and who waits for its next change.
struct SimCell {
    std::int64_t value = 0;
    std::uint64_t changes = 0;
    std::vector<int> watchers;
};

/// What a rank has read since it last waited.
class SimWatch {
public:
    void note(SimCell& cell);
    void forget() { seen_.clear(); }
    /// Returns when one of them has changed.   Error: as SimWorld::wait().
    void wait(SimWorld& world, int me);

private:
    struct Seen {
        SimCell* cell;
        std::uint64_t changes;
    };
    std::vector<Seen> seen_;
};

/// Of all ranks, one after another.
struct SimCountersMemory {
    std::vector<SimCell> cells;
    std::size_t per_rank;
};

class SimCounters final : public Counters {
public:
    SimCounters(SimWorld& world, int me, SimWatch& watch, std::shared_ptr<SimCountersMemory> memory)
        : world_(world), me_(me), watch_(watch), memory_(std::move(memory)) {}
    SimCounters(const SimCounters&) = delete;
    SimCounters& operator=(const SimCounters&) = delete;
    ~SimCounters() override { watch_.forget(); }

    std::int64_t read(int rank, std::size_t index) override;
    void read(int rank, std::size_t first, std::span<std::int64_t> out) override;
    std::int64_t fetch_add(int rank, std::size_t index, std::int64_t delta) override;

private:
    SimCell& cell(int rank, std::size_t index);

    SimWorld& world_;
    int me_;
    SimWatch& watch_;
    std::shared_ptr<SimCountersMemory> memory_;
};

}  // namespace wasp
