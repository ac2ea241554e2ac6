// The kernels on the layers of LeNet-5 and of Caffe's LeNet, one thread, for each instruction set
// that this machine has. flops/s over that of multiply_add is the share of the peak.
#include <benchmark/benchmark.h>

#include <string>

#include "base/aligned.hpp"
#include "base/random.hpp"
#include "tensor/kernels.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {
namespace {

AlignedFloats random_floats(std::size_t count) {
    AlignedFloats values(count);
    RandomStream random(1, "bench");
    for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
    return values;
}

/// Activations of one lane group.
class Activations {
public:
    Activations(int channels, int size, int halo, int lanes)
        : row_(std::ptrdiff_t{size + 2 * halo} * lanes),
          plane_(row_ * (size + 2 * halo)),
          memory_(random_floats(static_cast<std::size_t>(channels * plane_))),
          planes_{memory_.data() + halo * (row_ + lanes), channels, size, size, plane_, row_} {}
    const Planes& planes() const { return planes_; }

private:
    std::ptrdiff_t row_, plane_;
    AlignedFloats memory_;
    Planes planes_;
};

void count_flops(benchmark::State& state, double multiplications) {
    state.counters["flops"] =
        benchmark::Counter(2 * multiplications, benchmark::Counter::kIsIterationInvariantRate);
}

struct Convolution {
    const char* name;
    int inputs, outputs, size, padding;
};
constexpr int kernel = 5;
constexpr Convolution convolutions[] = {{"lenet5/conv1", 1, 6, 28, 2},
                                        {"lenet5/conv2", 6, 16, 14, 0},
                                        {"lenet5-caffe/conv1", 1, 20, 28, 0},
                                        {"lenet5-caffe/conv2", 20, 50, 12, 0}};

enum class Pass { forward, input_gradient, weight_gradient };

void convolution(benchmark::State& state, const Kernels& fast, const Convolution& c, Pass pass) {
    const int out = c.size + 2 * c.padding - kernel + 1;
    const Activations x(c.inputs, c.size, c.padding, fast.lanes), y(c.outputs, out, 0, fast.lanes);
    auto weights = random_floats(static_cast<std::size_t>(c.outputs * c.inputs * kernel * kernel));
    auto bias = random_floats(static_cast<std::size_t>(c.outputs));
    for (auto _ : state) switch (pass) {
            case Pass::forward:
                fast.convolution(x.planes(), weights.data(), bias.data(), kernel, c.padding,
                                 y.planes());
                break;
            case Pass::input_gradient:
                fast.convolution_input_gradient(y.planes(), weights.data(), kernel, c.padding,
                                                x.planes());
                break;
            case Pass::weight_gradient:
                fast.convolution_weight_gradient(x.planes(), y.planes(), kernel, c.padding,
                                                 weights.data(), bias.data());
                break;
        }
    count_flops(state, static_cast<double>(weights.size()) * out * out * fast.lanes);
}

struct Linear {
    const char* name;
    int inputs, outputs;
};
constexpr Linear linears[] = {{"lenet5/fc1", 400, 120},
                              {"lenet5/fc2", 120, 84},
                              {"lenet5/fc3", 84, 10},
                              {"lenet5-caffe/fc1", 800, 500}};

void linear(benchmark::State& state, const Kernels& fast, const Linear& l, Pass pass) {
    constexpr int images = 64;
    const int groups = images / fast.lanes;
    auto x = random_floats(static_cast<std::size_t>(l.inputs) * images);
    auto y = random_floats(static_cast<std::size_t>(l.outputs) * images);
    auto weights = random_floats(static_cast<std::size_t>(l.inputs * l.outputs));
    auto bias = random_floats(static_cast<std::size_t>(l.outputs));
    AlignedFloats scratch(fast.linear_scratch(l.inputs, groups));
    const auto step = [&](int count) { return std::ptrdiff_t{count} * fast.lanes; };
    const Features in{x.data(), l.inputs, groups, step(l.inputs)};
    const Features out{y.data(), l.outputs, groups, step(l.outputs)};
    for (auto _ : state) switch (pass) {
            case Pass::forward:
                fast.multiply({weights.data(), l.outputs, l.inputs, l.inputs, 1}, bias.data(), in,
                              out);
                break;
            case Pass::input_gradient:
                fast.multiply({weights.data(), l.inputs, l.outputs, 1, l.inputs}, nullptr, out, in);
                break;
            case Pass::weight_gradient:
                fast.linear_weight_gradient(in, out, false, weights.data(), bias.data(),
                                            scratch.data());
                break;
        }
    count_flops(state, static_cast<double>(weights.size()) * images);
}

void max_pooling(benchmark::State& state, const Kernels& fast, bool gradient) {
    const Activations x(6, 28, 0, fast.lanes), y(6, 14, 0, fast.lanes);
    auto winners = random_floats(static_cast<std::size_t>(6 * 14 * 14 * fast.lanes));
    for (auto _ : state)
        if (gradient)
            fast.max_pooling_gradient(y.planes(), winners.data(), 2, x.planes());
        else
            fast.max_pooling(x.planes(), 2, y.planes(), winners.data());
}

void load_uint8(benchmark::State& state, const Kernels& fast) {
    const Activations x(1, 28, 2, fast.lanes);
    const auto lanes = static_cast<std::size_t>(fast.lanes);
    std::vector<std::byte> pixels(lanes * 784);
    std::vector<const std::byte*> images;
    for (std::size_t i = 0; i < lanes; ++i) images.push_back(&pixels[i * 784]);
    const float scale = 0.01F, shift = -1;
    for (auto _ : state) fast.load_uint8(images.data(), &scale, &shift, x.planes());
}

void multiply_add(benchmark::State& state, const Kernels& fast) {
    double operations = 0;
    for (auto _ : state) operations = fast.multiply_add(10000);
    count_flops(state, operations / 2);
}

const bool registered = [] {
    use_threads(1);
    for (const auto isa : kernel_names()) {
        const Kernels& fast = kernels(isa);
        const auto add = [&](const std::string& name, auto body) {
            benchmark::RegisterBenchmark((std::string(isa) + "/" + name).c_str(), body);
        };
        add("peak", [&](benchmark::State& state) { multiply_add(state, fast); });
        add("lenet5/load", [&](benchmark::State& state) { load_uint8(state, fast); });
        for (const bool gradient : {false, true})
            add(gradient ? "lenet5/pool1/gradient" : "lenet5/pool1/forward",
                [&fast, gradient](benchmark::State& state) { max_pooling(state, fast, gradient); });
        constexpr std::pair<Pass, const char*> passes[] = {
            {Pass::forward, "/forward"},
            {Pass::input_gradient, "/input_gradient"},
            {Pass::weight_gradient, "/weight_gradient"}};
        for (const auto& [pass, name] : passes) {
            for (const auto& c : convolutions)
                add(std::string(c.name) + name, [&fast, &c, pass](benchmark::State& state) {
                    convolution(state, fast, c, pass);
                });
            for (const auto& l : linears)
                add(std::string(l.name) + name,
                    [&fast, &l, pass](benchmark::State& state) { linear(state, fast, l, pass); });
        }
    }
    return true;
}();

}  // namespace
}  // namespace wasp
