#include "straggler.hpp"

#include "base/error.hpp"
#include "base/spec.hpp"

namespace wasp {

namespace {

/// "random,probability=…" and "rank=2,…" as specs with a name.
Spec named(const std::string& text) {
    constexpr std::string_view random = "random,";
    if (text.starts_with(random)) return Spec("random:" + text.substr(random.size()));
    return Spec("straggler:" + text);
}

}  // namespace

Straggler::Straggler(const std::string& text, const Place& place, int ranks) {
    if (text.empty()) return;
    constexpr double slowest = 1000;
    constexpr std::int64_t most = 1'000'000'000'000;
    Spec spec = named(text);
    REQUIRE(spec.has("slow"), "--straggler '{}' needs slow=FACTOR", text);
    slow_ = spec.number("slow", 1, 1, slowest);
    if (spec.name() == "random") {
        REQUIRE(spec.has("probability"), "--straggler '{}' needs probability=P", text);
        probability_ = spec.number("probability", 0, 0, 1);
        draw_.emplace(static_cast<std::uint64_t>(spec.whole("seed", 1, 0, most)), "straggler",
                      place.rank);
    } else {
        REQUIRE(spec.has("rank") != spec.has("node"),
                "--straggler '{}' needs rank=R or node=N, or random,probability=P", text);
        const bool by_rank = spec.has("rank");
        const auto who = spec.whole(by_rank ? "rank" : "node", 0, 0, ranks - 1);
        from_ = spec.whole("from", 0, 0, most);
        if (who == (by_rank ? place.rank : place.node)) probability_ = 1;
    }
    spec.done();
}

double Straggler::delay(std::int64_t step, double seconds) {
    const double luck = draw_ ? draw_->uniform() : 0;
    return step >= from_ && luck < probability_ ? (slow_ - 1) * seconds : 0;
}

void Straggler::visit(State& state) {
    if (draw_) state.value("straggler", *draw_);
}

}  // namespace wasp
