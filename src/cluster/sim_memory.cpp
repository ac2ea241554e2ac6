#include "sim_memory.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

void SimPart::expect(Effect effect) {
    queue_.push({next_++, std::move(effect)});
}

void SimPart::catch_up(double now) {
    while (!queue_.empty() && queue_.top().effect.moment <= now) {
        apply(queue_.top().effect);
        queue_.pop();
    }
}

void SimPart::apply(const Effect& effect) {
    const std::size_t count = std::max(effect.in.size(), effect.out.size());
    ENSURE(effect.offset + count <= floats_.size(), "a window of {} floats was asked for [{}, {})",
           floats_.size(), effect.offset, effect.offset + count);
    const std::span<float> here = std::span(floats_).subspan(effect.offset, count);
    switch (effect.kind) {
        case Effect::Kind::get:
            copy(here, effect.out);
            break;
        case Effect::Kind::put:
            copy(effect.in, here);
            break;
        case Effect::Kind::add:
            axpy(effect.scale, effect.in, here);
            break;
    }
}

/// Where the weights stand for others their values are nobody's business: then the order in which
/// they change is not worth a queue.
void SimWindow::start(int rank, SimCosts::Call call, SimPart::Effect effect) {
    effect.moment = call.effect;
    done_ = std::max(done_, call.done);
    if (world_.options().weights_per_float > 1) return part(rank).apply(effect);
    part(rank).expect(std::move(effect));
    touched_.push_back(rank);
}

void SimWindow::finish() {
    world_.sleep_until(done_);
    for (const int rank : touched_) part(rank).catch_up(world_.now());
    touched_.clear();
}

void SimWindow::get(int rank, std::size_t offset, std::span<float> out) {
    const Source source{rank, offset, out};
    get_all({&source, 1});
}

void SimWindow::put(int rank, std::size_t offset, std::span<const float> in) {
    start(rank, world_.costs().put(world_.now(), me_, rank, in.size()),
          {.moment = 0,
           .kind = SimPart::Effect::Kind::put,
           .offset = offset,
           .scale = 1,
           .in = in,
           .out = {}});
    finish();
}

void SimWindow::add(int rank, std::size_t offset, float scale, std::span<const float> in) {
    const Target target{rank, offset, in};
    add_all(scale, {&target, 1});
}

void SimWindow::get_all(std::span<const Source> sources) {
    for (const auto& source : sources)
        start(source.rank, world_.costs().get(world_.now(), me_, source.rank, source.out.size()),
              {.moment = 0,
               .kind = SimPart::Effect::Kind::get,
               .offset = source.offset,
               .scale = 1,
               .in = {},
               .out = source.out});
    finish();
}

void SimWindow::add_all(float scale, std::span<const Target> targets) {
    for (const auto& target : targets)
        start(target.rank, world_.costs().add(world_.now(), me_, target.rank, target.in.size()),
              {.moment = 0,
               .kind = SimPart::Effect::Kind::add,
               .offset = target.offset,
               .scale = scale,
               .in = target.in,
               .out = {}});
    finish();
}

void SimWindow::start_add_all(float scale, std::span<const Target> targets) {
    for (const auto& target : targets) {
        const auto copied = std::make_shared<AlignedFloats>(target.in.begin(), target.in.end());
        start(target.rank, world_.costs().add(world_.now(), me_, target.rank, target.in.size()),
              {.moment = 0,
               .kind = SimPart::Effect::Kind::add,
               .offset = target.offset,
               .scale = scale,
               .in = *copied,
               .out = {},
               .keeps = copied});
    }
}

void SimWindow::finish_adds() {
    finish();
}

/// As it was first: a change since then may be what is waited for, though it was read again.
void SimWatch::note(SimCell& cell) {
    if (std::ranges::find(seen_, &cell, &Seen::cell) == seen_.end())
        seen_.push_back({&cell, cell.changes});
}

void SimWatch::wait(SimWorld& world, int me) {
    const auto seen = std::exchange(seen_, {});
    const auto has_changed = [](const Seen& s) { return s.cell->changes != s.changes; };
    if (std::ranges::any_of(seen, has_changed)) return;
    for (const Seen& s : seen) s.cell->watchers.push_back(me);
    world.wait(me);
    for (const Seen& s : seen) std::erase(s.cell->watchers, me);
}

SimCell& SimCounters::cell(int rank, std::size_t index) {
    ENSURE(rank >= 0 && rank < world_.size() && index < memory_->per_rank,
           "counter {} of {} on rank {}", index, memory_->per_rank, rank);
    return memory_->cells[static_cast<std::size_t>(rank) * memory_->per_rank + index];
}

std::int64_t SimCounters::read(int rank, std::size_t index) {
    SimCell& here = cell(rank, index);
    const auto call = world_.costs().count(world_.now(), me_, rank, 1);
    world_.sleep_until(call.effect);
    watch_.note(here);
    const std::int64_t value = here.value;
    world_.sleep_until(call.done);
    return value;
}

void SimCounters::read(int rank, std::size_t first, std::span<std::int64_t> out) {
    if (out.empty()) return;
    static_cast<void>(cell(rank, first + out.size() - 1));
    const auto call = world_.costs().count(world_.now(), me_, rank, out.size());
    world_.sleep_until(call.effect);
    for (auto& value : out) value = cell(rank, first++).value;
    world_.sleep_until(call.done);
}

std::int64_t SimCounters::fetch_add(int rank, std::size_t index, std::int64_t delta) {
    SimCell& here = cell(rank, index);
    const auto call = world_.costs().count(world_.now(), me_, rank, 1);
    world_.sleep_until(call.effect);
    const std::int64_t before = here.value;
    if (delta != 0) {
        here.value += delta;
        ++here.changes;
        for (const int watcher : std::exchange(here.watchers, {})) world_.wake(watcher);
    }
    world_.sleep_until(call.done);
    return before;
}

}  // namespace wasp
