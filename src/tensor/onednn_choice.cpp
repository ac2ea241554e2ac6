#include "onednn_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <span>

#include "base/random.hpp"
#include "base/stopwatch.hpp"
#include "bf16.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

/// How much the result may differ from the direct one, by norm. Winograd's does by 2e-6 or less in
/// the layers of the ResNets; results in bf16 are rounded to 2e-3.
double largest_error(Precision precision) {
    return precision == Precision::bf16 ? 1e-2 : 1e-5;
}
constexpr int repetitions = 3;    // the best counts
constexpr double hopeless = 1.5;  // times the best so far: not tried again

struct Measured {
    ConvolutionChoice choice;
    ActivationLayout layout;
    ConvolutionPass kind;
    int threads;
    ConvolutionAlgorithm algorithm;
};

std::mutex mutex;  // ranks may be threads; measurements would disturb each other
std::vector<Measured> measured_passes;

template <class Element>
void fill(Element* values, std::size_t count) {
    RandomStream random(1, "convolution");
    constexpr std::size_t period = 8191;  // a prime number: no pattern in images or channels
    for (std::size_t i = 0; i < count; ++i)
        if (i < period)
            assign(static_cast<float>(random.uniform(-1, 1)), values[i]);
        else
            values[i] = values[i - period];
}

/// Random numbers.
HugeBuffer elements(std::size_t bytes, Precision precision) {
    HugeBuffer buffer(bytes);
    if (precision == Precision::bf16)
        fill(reinterpret_cast<Bf16*>(buffer.data()), bytes / sizeof(Bf16));
    else
        fill(reinterpret_cast<float*>(buffer.data()), bytes / sizeof(float));
    return buffer;
}

std::size_t result_size(ConvolutionPass kind, const ConvolutionShape& shape) {
    const auto images = static_cast<std::size_t>(shape.images);
    switch (kind) {
        case ConvolutionPass::forward:
            return images * static_cast<std::size_t>(shape.outputs * shape.output_pixels());
        case ConvolutionPass::data:
            return images * static_cast<std::size_t>(shape.inputs * shape.input_pixels());
        case ConvolutionPass::weights:
            break;
    }
    return shape.weights();
}

/// The operands of a pass, and memory that all its candidates work in.
struct Bench {
    const OnednnEngine& engine;
    ConvolutionPass kind;
    std::size_t results;  // elements that a run computes
    HugeBuffer x, y, weights;
    HugeBuffer out, scratch;

    Bench(const OnednnEngine& with, ConvolutionPass pass, const ConvolutionShape& shape)
        : engine(with),
          kind(pass),
          results(result_size(pass, shape)),
          x(elements(with.layout().bytes(shape.images, shape.inputs, shape.input_pixels()),
                     with.layout().precision)),
          y(elements(with.layout().bytes(shape.images, shape.outputs, shape.output_pixels()),
                     with.layout().precision)),
          weights(elements(shape.weights() * sizeof(float), Precision::float32)),
          out(pass == ConvolutionPass::forward ? y.size() : x.size()) {}
};

/// One algorithm of a pass.
class Candidate {
public:
    Candidate(ConvolutionAlgorithm algorithm, OnednnPass pass, Bench& bench)
        : algorithm_(algorithm), pass_(std::move(pass)), packed_(pass_.weights().bytes()) {
        if (bench.kind != ConvolutionPass::weights)
            pass_.weights().pack(bench.engine.stream(),
                                 reinterpret_cast<const float*>(bench.weights.data()),
                                 packed_.data());
        if (pass_.scratch_bytes() > bench.scratch.size())
            bench.scratch = HugeBuffer(pass_.scratch_bytes());
    }

    void run(const Bench& bench) {
        const auto& first = bench.kind == ConvolutionPass::data ? bench.y : bench.x;
        const auto& second = bench.kind == ConvolutionPass::weights ? bench.y : bench.out;
        const Stopwatch watch;
        pass_.run(first.data(), second.data(), packed_.data(), bench.scratch.data());
        best_ = std::min(best_, watch.seconds());
    }
    double seconds() const { return best_; }

    std::vector<float> result(const Bench& bench) {
        run(bench);
        std::vector<float> values(bench.results);
        if (bench.kind == ConvolutionPass::weights) {
            pass_.weights().unpack(bench.engine.stream(), packed_.data(), values.data());
        } else if (bench.engine.layout().precision == Precision::bf16) {
            const auto* from = reinterpret_cast<const Bf16*>(bench.out.data());
            std::transform(from, from + bench.results, values.begin(),
                           [](Bf16 value) { return to_float(value); });
        } else {
            std::copy_n(reinterpret_cast<const float*>(bench.out.data()), bench.results,
                        values.data());
        }
        return values;
    }
    ConvolutionAlgorithm algorithm() const { return algorithm_; }
    const std::string& implementation() const { return pass_.implementation(); }

private:
    ConvolutionAlgorithm algorithm_;
    OnednnPass pass_;
    HugeBuffer packed_;
    double best_ = INFINITY;
};

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        norm += std::pow(static_cast<double>(a[i]), 2);
    }
    return std::sqrt(difference / norm);
}

/// Of two or more algorithms the fastest whose result is near that of the first.
Measured measure(const OnednnEngine& engine, ConvolutionPass kind, const ConvolutionShape& shape,
                 std::vector<std::pair<ConvolutionAlgorithm, OnednnPass>>&& passes) {
    Bench bench(engine, kind, shape);
    std::vector<Candidate> candidates;
    for (auto& [algorithm, pass] : passes)
        candidates.emplace_back(algorithm, std::move(pass), bench);
    for (auto* buffer : {&bench.out, &bench.scratch})  // else the first one gets to know the pages
        std::memset(buffer->data(), 0, buffer->size());
    double best = INFINITY;
    for (int i = 0; i < repetitions; ++i)  // in turns: the machine's speed drifts
        for (auto& candidate : candidates) {
            if (candidate.seconds() < INFINITY && candidate.seconds() > hopeless * best) continue;
            candidate.run(bench);
            best = std::min(best, candidate.seconds());
        }

    Candidate& direct = candidates.front();
    const auto expected = direct.result(bench);
    const Candidate* chosen = &direct;
    double error = 0;
    for (auto& candidate : std::span(candidates).subspan(1)) {
        const double difference = relative_difference(expected, candidate.result(bench));
        const bool better = candidate.seconds() < chosen->seconds() &&
                            difference <= largest_error(engine.layout().precision);
        if (better || candidates.size() == 2) error = difference;
        if (better) chosen = &candidate;
    }
    double other_seconds = INFINITY;
    for (const auto& candidate : candidates)
        if (&candidate != chosen) other_seconds = std::min(other_seconds, candidate.seconds());
    constexpr std::array names{"forward", "data", "weights"};
    return {.choice = {.shape = shape,
                       .pass = names[static_cast<std::size_t>(kind)],
                       .algorithm = std::string(name_of(chosen->algorithm())),
                       .implementation = chosen->implementation(),
                       .seconds = chosen->seconds(),
                       .other_seconds = other_seconds,
                       .error = error},
            .layout = engine.layout(),
            .kind = kind,
            .threads = available_threads(),
            .algorithm = chosen->algorithm()};
}

}  // namespace

ConvolutionAlgorithm choose_algorithm(const OnednnEngine& engine, ConvolutionPass kind,
                                      const ConvolutionShape& shape, ConvolutionAlgorithm wanted) {
    using enum ConvolutionAlgorithm;
    const auto possible = possible_algorithms(engine.layout(), kind, shape);
    if (wanted == direct || possible.size() == 1) return direct;
    const std::scoped_lock lock(mutex);
    const auto known = std::ranges::find_if(measured_passes, [&](const Measured& entry) {
        return entry.choice.shape == shape && entry.kind == kind &&
               entry.layout == engine.layout() && entry.threads == available_threads();
    });
    if (wanted == measured && known != measured_passes.end()) return known->algorithm;

    std::vector<std::pair<ConvolutionAlgorithm, OnednnPass>> passes;
    for (const auto algorithm : possible)
        if (auto pass = OnednnPass::make(engine, kind, shape, algorithm))
            passes.emplace_back(algorithm, std::move(*pass));
    ENSURE(!passes.empty(), "oneDNN has no convolution {}→{} {}×{}", shape.inputs, shape.outputs,
           shape.kernel, shape.kernel);
    for (const auto& [algorithm, pass] : passes)
        if (algorithm == wanted) return wanted;
    if (wanted != measured || passes.size() == 1) return passes.front().first;
    measured_passes.push_back(measure(engine, kind, shape, std::move(passes)));
    return measured_passes.back().algorithm;
}

std::vector<ConvolutionChoice> convolution_choices() {
    const std::scoped_lock lock(mutex);
    std::vector<ConvolutionChoice> choices;
    for (const auto& entry : measured_passes) choices.push_back(entry.choice);
    return choices;
}

}  // namespace wasp
