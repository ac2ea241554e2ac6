#include "weight_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"

namespace wasp {

namespace {

using Kind = Key::Kind;

struct WeightRow {
    std::string_view name, formula;
    WeightFunction (*make)(const Settings& keys, double workers);
};

// The staleness comes in as a double: it is a figure to compute with.
template <class Formula>
WeightFunction of_staleness(Formula formula) {
    return [formula](std::int64_t s) { return formula(static_cast<double>(s)); };
}

constexpr std::array rows{
    WeightRow{"inverse", "1/(1+s)   (DynSGD: Jiang et al., SIGMOD 2017)",
              [](const Settings& /*keys*/, double /*workers*/) {
                  return of_staleness([](double s) { return 1 / (1 + s); });
              }},
    WeightRow{"inverse1", "1/max(s,1)   (Zhang et al., IJCAI 2016)",
              [](const Settings& /*keys*/, double /*workers*/) {
                  return of_staleness([](double s) { return 1 / std::max(s, 1.0); });
              }},
    WeightRow{"poly", "(1+s)^-a   (FedAsync: Xie et al. 2019)",
              [](const Settings& keys, double /*workers*/) {
                  return of_staleness(
                      [a = keys.number("a")](double s) { return std::pow(1 + s, -a); });
              }},
    WeightRow{"hinge", "1 if s<=b, else 1/(a(s-b)+1)   (FedAsync: Xie et al. 2019)",
              [](const Settings& keys, double /*workers*/) {
                  return of_staleness([a = keys.number("a"), b = keys.number("b")](double s) {
                      return s <= b ? 1 : 1 / (a * (s - b) + 1);
                  });
              }},
    WeightRow{"bound", "B/(B+s)",
              [](const Settings& keys, double /*workers*/) {
                  return of_staleness([b = keys.number("B")](double s) { return b / (b + s); });
              }},
    WeightRow{"exp", "e^(-a·s)   (training stalls when it gets too small; a warning says so)",
              [](const Settings& keys, double /*workers*/) {
                  return of_staleness(
                      [a = keys.number("a")](double s) { return std::exp(-a * s); });
              }},
    WeightRow{"drop", "1 if s<R, else the gradient is thrown away   (Ringmaster ASGD 2025)",
              [](const Settings& /*keys*/, double /*workers*/) {
                  return of_staleness([](double /*s*/) { return 1.0; });
              }},
    WeightRow{"concurrency", "1 if s<=P, else P/s   (after Koloskova et al. 2022)",
              [](const Settings& /*keys*/, double workers) {
                  return of_staleness(
                      [workers](double s) { return s <= workers ? 1 : workers / s; });
              }},
    WeightRow{"constant", "1",
              [](const Settings& /*keys*/, double /*workers*/) {
                  return of_staleness([](double /*s*/) { return 1.0; });
              }},
    WeightRow{"mean", "1/P",
              [](const Settings& /*keys*/, double workers) {
                  return of_staleness([workers](double /*s*/) { return 1 / workers; });
              }},
    WeightRow{"table", "line s+1 of a file, beyond its end the last line",
              [](const Settings& keys, double /*workers*/) -> WeightFunction {
                  return [w = keys.numbers("table")](std::int64_t s) {
                      return w[std::min(static_cast<std::size_t>(s), w.size() - 1)];
                  };
              }},
};

constexpr std::array masses{
    Choice{"free", "as it comes"},
    Choice{"one", "1 as in bsp: w(s) is divided by P times its running mean"}};

constexpr auto choices = [] {
    std::array<Choice, rows.size()> names{};
    std::ranges::transform(rows, names.begin(), [](const WeightRow& row) {
        return Choice{row.name, row.formula};
    });
    return names;
}();

}  // namespace

std::vector<Key> weight_keys() {
    return {
        {.name = "weight",
         .kind = Kind::choice,
         .fallback = "inverse",
         .choices = choices,
         .meaning = "w(s) of an update whose gradient is s versions old:"},
        {.name = "a",
         .kind = Kind::number,
         .fallback = "0.5",
         .high = 100,
         .meaning = "the exponent",
         .only_with = "poly"},
        {.name = "a",
         .kind = Kind::number,
         .fallback = "10",
         .high = 1e6,
         .meaning = "how steeply it falls",
         .only_with = "hinge"},
        {.name = "b",
         .kind = Kind::number,
         .fallback = "4",
         .high = 1e6,
         .meaning = "the staleness up to which an update counts in full",
         .only_with = "hinge"},
        {.name = "B",
         .kind = Kind::number,
         .fallback = "10",
         .low = 1e-3,
         .high = 1e6,
         .meaning = "the staleness at which an update counts half",
         .only_with = "bound"},
        {.name = "a",
         .kind = Kind::number,
         .fallback = "0.1",
         .high = 100,
         .meaning = "how fast it falls",
         .only_with = "exp"},
        {.name = "R",
         .low = 1,
         .high = unlimited,
         .meaning = "the staleness from which gradients are thrown away; above P−1",
         .only_with = "drop"},
        {.name = "table",
         .kind = Kind::numbers_file,
         .high = 1e6,
         .meaning = "text file, one weight a line for s=0,1,…",
         .only_with = "table"},
        {.name = "mass",
         .kind = Kind::choice,
         .fallback = "free",
         .choices = masses,
         .meaning = "what the weights of P updates add up to:"},
    };
}

WeightFunction make_weight(const Settings& settings, int workers) {
    const auto* const row = std::ranges::find(rows, settings.choice("weight"), &WeightRow::name);
    ASSERT(row != rows.end(), "weight function '{}'", settings.choice("weight"));
    return row->make(settings, workers);
}

bool wants_unit_mass(const Settings& settings) {
    return settings.chosen("mass", "one");
}

double UnitMass::divide(double weight) {
    constexpr int memory = 100;
    seen_ = std::min(seen_ + 1, memory);
    mean_ += (weight - mean_) / seen_;
    return mean_ > 0 ? weight / (workers_ * mean_) : weight;
}

void UnitMass::visit(State& state) {
    state.value("mean_weight", mean_);
    state.value("weights_seen", seen_);
}

std::int64_t drop_from(const Settings& settings) {
    return settings.chosen("weight", "drop") ? settings.whole("R") : never;
}

}  // namespace wasp
