#include <fmt/format.h>

#include "app/benches.hpp"
#include "nn/model.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

void bench_kernels(const BenchStepOptions& options) {
    use_threads(options.threads);
    const auto model = make_model(options.model, {.image = usual_image(options.model),
                                                  .largest_batch = options.batch,
                                                  .simd = options.simd,
                                                  .precision = options.precision});
    const auto choices = convolution_choices();
    if (choices.empty()) {
        fmt::print("{}: no convolution can be computed in more than one way here\n", options.model);
        return;
    }
    fmt::print(
        "{} batch={} threads={}: convolutions that there is more than one way for\n{:<27}{:<9}"
        "{:>8}{:>9}{:>9}{:>10}  {}\n",
        options.model, options.batch, options.threads, "channels, pixels, kernel", "pass", "ms",
        "other ms", "GFLOP/s", "error", "chosen");
    for (const auto& choice : choices) {
        const auto& shape = choice.shape;
        const double operations = 2 * shape.multiplications() * shape.images;
        fmt::print("{:<27}{:<9}{:>8.2f}{:>9.2f}{:>9.0f}{:>10.1e}  {} {}\n",
                   fmt::format("{}→{} {}×{} {}×{}/{}", shape.inputs, shape.outputs, shape.height,
                               shape.width, shape.kernel, shape.kernel, shape.stride),
                   choice.pass, 1e3 * choice.seconds, 1e3 * choice.other_seconds,
                   1e-9 * operations / choice.seconds, choice.error, choice.algorithm,
                   choice.implementation);
    }
}

}  // namespace wasp
