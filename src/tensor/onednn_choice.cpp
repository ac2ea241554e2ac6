#include "onednn_choice.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/random.hpp"
#include "base/stopwatch.hpp"
#include "tensor/parallel.hpp"

namespace wasp {

namespace {

/// Winograd's result may differ from the direct one by that much, by norm. It does by 2e-6 or less
/// in the layers of the ResNets.
constexpr double largest_error = 1e-5;
constexpr int repetitions = 3;  // the best counts; the first one warms up

struct Measured {
    ConvolutionChoice choice;
    ConvolutionPass kind;
    int threads;
    bool winograd;
};

std::mutex mutex;  // ranks may be threads; measurements would disturb each other
std::vector<Measured> measured;

HugeBuffer random_floats(std::size_t bytes, RandomStream& random) {
    HugeBuffer buffer(bytes);
    auto* values = reinterpret_cast<float*>(buffer.data());
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i)
        values[i] = static_cast<float>(random.uniform(-1, 1));
    return buffer;
}

/// One pass of one algorithm on given operands, which it may not change.
class Candidate {
public:
    Candidate(OnednnPass pass, ConvolutionPass kind, const HugeBuffer& x, const HugeBuffer& y,
              const float* weights, const dnnl::stream& stream)
        : pass_(std::move(pass)),
          kind_(kind),
          x_(x),
          y_(y),
          packed_(pass_.weights().bytes()),
          scratch_(pass_.scratch_bytes()),
          out_(kind == ConvolutionPass::forward ? y.size() : x.size()) {
        if (kind != ConvolutionPass::weights) pass_.weights().pack(stream, weights, packed_.data());
    }

    double seconds() {
        const auto& first = kind_ == ConvolutionPass::data ? y_ : x_;
        const auto& second = kind_ == ConvolutionPass::weights ? y_ : out_;
        const Stopwatch watch;
        pass_.run(first.data(), second.data(), packed_.data(), scratch_.data());
        return watch.seconds();
    }
    std::vector<float> result(std::size_t count, const dnnl::stream& stream) const {
        std::vector<float> values(count);
        if (kind_ == ConvolutionPass::weights)
            pass_.weights().unpack(stream, packed_.data(), values.data());
        else
            std::copy_n(reinterpret_cast<const float*>(out_.data()), count, values.data());
        return values;
    }
    const std::string& implementation() const { return pass_.implementation(); }

private:
    OnednnPass pass_;
    ConvolutionPass kind_;
    const HugeBuffer &x_, &y_;
    HugeBuffer packed_, scratch_, out_;
};

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        norm += std::pow(static_cast<double>(a[i]), 2);
    }
    return std::sqrt(difference / norm);
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

Measured measure(const OnednnEngine& engine, ConvolutionPass kind, const ConvolutionShape& shape,
                 OnednnPass direct_pass, OnednnPass winograd_pass) {
    RandomStream random(1, "convolution");
    const auto layout = engine.layout();
    const auto x =
        random_floats(layout.bytes(shape.images, shape.inputs, shape.input_pixels()), random);
    const auto y =
        random_floats(layout.bytes(shape.images, shape.outputs, shape.output_pixels()), random);
    const auto w = random_floats(shape.weights() * sizeof(float), random);
    const auto* weights = reinterpret_cast<const float*>(w.data());
    Candidate direct(std::move(direct_pass), kind, x, y, weights, engine.stream());
    Candidate winograd(std::move(winograd_pass), kind, x, y, weights, engine.stream());

    double direct_seconds = INFINITY, winograd_seconds = INFINITY;
    for (int i = 0; i <= repetitions; ++i) {  // in turns: the machine's speed drifts
        direct_seconds = std::min(direct_seconds, direct.seconds());
        winograd_seconds = std::min(winograd_seconds, winograd.seconds());
    }
    const std::size_t count = result_size(kind, shape);
    const double error = relative_difference(direct.result(count, engine.stream()),
                                             winograd.result(count, engine.stream()));
    const bool better = winograd_seconds < direct_seconds && error <= largest_error;
    constexpr std::array names{"forward", "data", "weights"};
    return {
        .choice = {.shape = shape,
                   .pass = names[static_cast<std::size_t>(kind)],
                   .implementation = better ? winograd.implementation() : direct.implementation(),
                   .seconds = better ? winograd_seconds : direct_seconds,
                   .other_seconds = better ? direct_seconds : winograd_seconds,
                   .error = error},
        .kind = kind,
        .threads = available_threads(),
        .winograd = better};
}

}  // namespace

bool prefers_winograd(const OnednnEngine& engine, ConvolutionPass kind,
                      const ConvolutionShape& shape, ConvolutionAlgorithm algorithm) {
    if (algorithm == ConvolutionAlgorithm::direct || shape.kernel != 3 || shape.stride != 1 ||
        shape.of_pixels || engine.layout().precision != Precision::float32)
        return false;
    auto winograd = OnednnPass::make(engine, kind, shape, true);
    if (!winograd || algorithm == ConvolutionAlgorithm::winograd) return winograd.has_value();

    const std::scoped_lock lock(mutex);
    const auto known = std::ranges::find_if(measured, [&](const Measured& entry) {
        return entry.choice.shape == shape && entry.kind == kind &&
               entry.threads == available_threads();
    });
    if (known != measured.end()) return known->winograd;
    auto direct = OnednnPass::make(engine, kind, shape, false);
    if (!direct) return true;
    measured.push_back(measure(engine, kind, shape, std::move(*direct), std::move(*winograd)));
    return measured.back().winograd;
}

std::vector<ConvolutionChoice> convolution_choices() {
    const std::scoped_lock lock(mutex);
    std::vector<ConvolutionChoice> choices;
    for (const auto& entry : measured) choices.push_back(entry.choice);
    return choices;
}

}  // namespace wasp
