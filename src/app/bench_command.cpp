#include <memory>
#include <vector>

#include "app/benches.hpp"
#include "base/error.hpp"
#include "cluster_choice.hpp"
#include "command.hpp"
#include "core_share.hpp"
#include "train_options.hpp"

namespace wasp {

namespace {

constexpr double longest = 600;  // seconds

struct StepOptions {
    std::string cluster = "mpi", model, simd, calibrate;
    std::int64_t batch = 64, threads = 1;
    Precision precision = Precision::float32;
    double seconds = 3;

    BenchStepOptions values() const {
        return {.model = model,
                .simd = simd,
                .precision = precision,
                .batch = static_cast<int>(batch),
                .threads = static_cast<int>(threads),
                .seconds = seconds,
                .calibrate = calibrate};
    }
};

constexpr std::string_view calibrate_help =
    "also write it there, for --cluster sim:…,calibrate=FILE; what the file has of others stays";

void check_threads(std::int64_t threads) {
    const int cores = usable_core_count();
    REQUIRE(threads <= cores, "--threads {}: this process may use {} core(s)", threads, cores);
}

OptionTable table_of(StepOptions& options) {
    OptionTable table;
    table.text("model", options.model, "NAME", "see `wasp help models`");
    table.whole("batch", options.batch, {1, 2048}, "images a step");
    table.whole("threads", options.threads, {1, 1024}, "of this process");
    table.text("simd", options.simd, "SET", "avx, avx2 or avx512; the machine's best if not given");
    table.choice<Precision>("precision", options.precision,
                            {{"float32", Precision::float32}, {"bf16", Precision::bf16}},
                            "of the ResNets' activations");
    return table;
}

/// A command whose ranks are those of options->cluster.
template <class Options>
void add_on_ranks(CLI::App& group, Commands& commands, const std::string& name,
                  const std::string& help, OptionTable table,
                  const std::shared_ptr<Options>& options,
                  void (*bench)(Cluster&, const Options&)) {
    table.text("cluster", options->cluster, "CLUSTER", "mpi or threads:N");
    auto& command = add_command(
        group, commands, name, help, std::move(table), [options, bench](Arguments& arguments) {
            return run_on(parse_cluster(options->cluster), &arguments.count, &arguments.words,
                          [&](Cluster& cluster) { bench(cluster, *options); });
        });
    command.starts_mpi = true;
}

void add_step(CLI::App& group, Commands& commands) {
    const auto options = std::make_shared<StepOptions>();
    options->model = "lenet5";
    auto table = table_of(*options);
    table.number("seconds", options->seconds, {0.1, longest}, "to measure for");
    table.text("calibrate", options->calibrate, "FILE", calibrate_help);
    add_on_ranks<StepOptions>(
        group, commands, "step",
        "training steps of a model, without data; under mpiexec of all ranks at once",
        std::move(table), options, [](Cluster& cluster, const StepOptions& chosen) {
            check_threads(chosen.threads);
            bench_step(cluster, chosen.values());
        });
}

void add_kernels(CLI::App& group, Commands& commands) {
    const auto options = std::make_shared<StepOptions>();
    options->model = "resnet101";
    options->batch = 32;
    add_command(group, commands, "kernels", "the algorithms chosen for a model's convolutions",
                table_of(*options), [options](Arguments& /*arguments*/) {
                    check_threads(options->threads);
                    bench_kernels(options->values());
                    return 0;
                });
}

struct SizeOptions {
    std::string cluster = "mpi", calibrate;
    std::int64_t floats = 0, shard_bytes = 0;
    double seconds = 1;

    std::vector<std::size_t> sizes() const {
        if (floats > 0) return {static_cast<std::size_t>(floats)};
        return {431'080, 42'512'970};
    }
};

OptionTable table_of(SizeOptions& options, const std::string& which, const std::string& each) {
    OptionTable table;
    table.whole("floats", options.floats, {0, 1'000'000'000},
                which + "; 0: those of Caffe's LeNet, then those of ResNet-101");
    table.number("seconds", options.seconds, {0.01, longest}, "to measure for, each " + each);
    return table;
}

void add_store(CLI::App& group, Commands& commands) {
    const auto options = std::make_shared<SizeOptions>();
    auto table = table_of(*options, "in the store", "figure");
    add_shard_bytes(table, options->shard_bytes);
    table.text("calibrate", options->calibrate, "FILE", calibrate_help);
    add_on_ranks<SizeOptions>(
        group, commands, "store",
        "pull and push of the shared weights against plain copy and axpy (under mpiexec)",
        std::move(table), options, [](Cluster& cluster, const SizeOptions& chosen) {
            bench_store(cluster, chosen.sizes(), static_cast<std::size_t>(chosen.shard_bytes),
                        chosen.seconds, chosen.calibrate);
        });
}

void add_sum(CLI::App& group, Commands& commands) {
    const auto options = std::make_shared<SizeOptions>();
    options->seconds = 3;
    add_on_ranks<SizeOptions>(
        group, commands, "sum",
        "sums over all ranks against plain copies and MPI_Allreduce (under mpiexec)",
        table_of(*options, "that are summed up", "line"), options,
        [](Cluster& cluster, const SizeOptions& chosen) {
            bench_sum(cluster, chosen.sizes(), chosen.seconds);
        });
}

struct ProtocolOptions {
    std::string cluster = "mpi", model = "lenet5", protocol = "wasp";
    std::int64_t batch = 64, threads = 1;
    double seconds = 10;
};

void add_protocol(CLI::App& group, Commands& commands) {
    const auto options = std::make_shared<ProtocolOptions>();
    OptionTable table;
    table.text("protocol", options->protocol, "SPEC", "see `wasp help protocols`");
    table.text("model", options->model, "NAME", "see `wasp help models`");
    table.whole("batch", options->batch, {1, 2048}, "images a step of each rank");
    table.whole("threads", options->threads, {1, 1024}, "of each rank");
    table.number("seconds", options->seconds, {0.1, longest}, "to measure for");
    add_on_ranks<ProtocolOptions>(
        group, commands, "protocol",
        "steps with a protocol against steps of each rank alone (under mpiexec)", std::move(table),
        options, [](Cluster& cluster, const ProtocolOptions& chosen) {
            bench_protocol(cluster, {.model = chosen.model,
                                     .protocol = chosen.protocol,
                                     .batch = static_cast<int>(chosen.batch),
                                     .threads = static_cast<int>(chosen.threads),
                                     .seconds = chosen.seconds});
        });
}

}  // namespace

void add_bench_commands(CLI::App& program, Commands& commands) {
    auto& group = add_group(program, "bench", "our own speed");
    add_step(group, commands);
    add_kernels(group, commands);
    add_store(group, commands);
    add_sum(group, commands);
    add_protocol(group, commands);
}

}  // namespace wasp
