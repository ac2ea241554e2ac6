#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "app/benches.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "made_up_images.hpp"
#include "nn/model.hpp"
#include "output.hpp"
#include "protocols/protocol.hpp"
#include "tensor/parallel.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

class ProtocolBench {
public:
    ProtocolBench(Cluster& cluster, const BenchProtocolOptions& options)
        : cluster_(cluster),
          batch_(static_cast<std::size_t>(options.batch)),
          model_(make_model(options.model,
                            {.image = usual_image(options.model), .largest_batch = options.batch})),
          images_(model_->image_shape(), model_->classes()),
          sgd_(model_->weights().size(), {.momentum = 0.9F}),
          protocol_(make_protocol(options.protocol, {.cluster = cluster,
                                                     .sgd = sgd_,
                                                     .weights = model_->weights(),
                                                     .planned_steps = planned_steps})) {
        constexpr float so_small_that_nothing_diverges = 1e-5F;
        sgd_.set_learning_rate(so_small_that_nothing_diverges);
    }

    std::size_t weights() const { return model_->weights().size(); }

    /// Seconds until every rank has made `steps` steps.
    double alone(int steps) {
        return timed(steps, [&](float /*loss*/) {
            axpy(1, sgd_.update(model_->gradients(), model_->weights()), model_->weights());
        });
    }
    double with_protocol(int steps) {
        return timed(steps, [&](float loss) {
            protocol_->exchange({model_->weights(), model_->gradients()}, loss);
        });
    }
    void finish() { protocol_->finish({model_->weights(), model_->gradients()}); }

private:
    static constexpr std::int64_t planned_steps = 1'000'000;

    template <class Use>
    double timed(int steps, Use use) {
        cluster_.barrier();
        const Stopwatch watch;
        for (int i = 0; i < steps; ++i, ++step_)
            use(static_cast<float>(model_->train_step(images_.batch(step_, batch_)).loss()));
        cluster_.barrier();
        return watch.seconds();
    }

    Cluster& cluster_;
    std::size_t batch_, step_ = 0;
    std::unique_ptr<Model> model_;
    MadeUpImages images_;
    Sgd sgd_;
    std::unique_ptr<Protocol> protocol_;
};

/// How long, as rank 0 sees it.
double agreed(Cluster& cluster, double seconds) {
    cluster.broadcast(std::as_writable_bytes(std::span(&seconds, 1)), 0);
    return seconds;
}

}  // namespace

void bench_protocol(Cluster& cluster, const BenchProtocolOptions& options) {
    collectively(cluster, [&] {
        REQUIRE(protocol_facts(options.protocol).team(cluster.rank(), cluster.size()).workers ==
                    cluster.size(),
                "--protocol {}: one without servers can be measured", options.protocol);
        check_model_name(options.model);
    });
    use_threads(options.threads);
    ProtocolBench bench(cluster, options);
    bench.alone(2);  // makes buffers
    bench.with_protocol(2);

    constexpr double burst = 0.05;  // seconds: a busy neighbour rarely comes in one of a pair only
    const int steps = static_cast<int>(std::max(1.0, burst / agreed(cluster, bench.alone(1))));
    std::vector<double> alone, with_protocol, shares;
    const Stopwatch total;
    do {
        alone.push_back(bench.alone(steps));
        with_protocol.push_back(bench.with_protocol(steps));
        shares.push_back(alone.back() / with_protocol.back());
    } while (agreed(cluster, total.seconds()) < options.seconds);
    bench.finish();
    if (cluster.rank() != 0) return;
    const double images = static_cast<double>(options.batch) * steps * cluster.size();
    say_as(
        "{} {} params={} batch={} ranks={} threads={}: {:.1f} images/s, of {:.1f} alone: {:.1f} % "
        "(median of {} pairs)\n",
        options.protocol, options.model, bench.weights(), options.batch, cluster.size(),
        options.threads, images / median(with_protocol), images / median(alone),
        100 * median(shares), shares.size());
}

}  // namespace wasp
