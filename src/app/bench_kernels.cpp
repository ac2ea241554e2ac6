#include <fmt/format.h>

#include "app/benches.hpp"
#include "limits.hpp"
#include "nn/model.hpp"
#include "output.hpp"
#include "tensor/kernels.hpp"
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
        say_as("{}: no convolution can be computed in more than one way here\n", options.model);
        return;
    }
    const auto limits = measure_limits(kernels(options.simd));
    say_as(
        "{} batch={} threads={}: convolutions that there is more than one way for\n"
        "limits, measured now: {}\n{:<27}{:<9}{:>8}{:>9}{:>9}{:>8}{:>10}  {}\n",
        options.model, options.batch, options.threads, in_words(limits), "channels, pixels, kernel",
        "pass", "ms", "other ms", "GFLOP/s", "% peak", "error", "chosen");
    for (const auto& choice : choices) {
        const auto& shape = choice.shape;
        const double flops = 2 * shape.multiplications() * shape.images / choice.seconds;
        say_as("{:<27}{:<9}{:>8.2f}{:>9.2f}{:>9.0f}{:>8.0f}{:>10.1e}  {} {}\n",
               fmt::format("{}→{} {}×{} {}×{}/{}", shape.inputs, shape.outputs, shape.height,
                           shape.width, shape.kernel, shape.kernel, shape.stride),
               choice.pass, 1e3 * choice.seconds, 1e3 * choice.other_seconds, 1e-9 * flops,
               100 * flops / limits.flops, choice.error, choice.algorithm, choice.implementation);
    }
}

}  // namespace wasp
