#include <memory>
#include <vector>

#include "app/benches.hpp"
#include "base/error.hpp"
#include "cluster_choice.hpp"
#include "command.hpp"
#include "core_share.hpp"

namespace wasp {

namespace {

constexpr double longest = 600;  // seconds

struct StepOptions {
    std::string model, simd, calibrate;
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

void add_step(CLI::App& group, Commands& commands) {
    const auto options = std::make_shared<StepOptions>();
    options->model = "lenet5";
    auto table = table_of(*options);
    table.number("seconds", options->seconds, {0.1, longest}, "to measure for");
    table.text("calibrate", options->calibrate, "FILE", calibrate_help);
    add_command(group, commands, "step", "training steps of a model, without data and ranks",
                std::move(table), [options](Arguments& /*arguments*/) {
                    check_threads(options->threads);
                    bench_step(options->values());
                    return 0;
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

void add_store(CLI::App& group, Commands& commands) {
    struct Options {
        std::string cluster = "mpi", calibrate;
        std::int64_t floats = 0;
        double seconds = 1;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.text("cluster", options->cluster, "CLUSTER", "mpi or threads:N");
    table.whole("floats", options->floats, {0, 1'000'000'000},
                "in the store; 0: those of Caffe's LeNet, then those of ResNet-101");
    table.number("seconds", options->seconds, {0.01, longest}, "to measure for, each figure");
    table.text("calibrate", options->calibrate, "FILE", calibrate_help);
    auto& command = add_command(
        group, commands, "store",
        "pull and push of the shared weights against plain copy and axpy (under mpiexec)",
        std::move(table), [options](Arguments& arguments) {
            std::vector<std::size_t> sizes = {431'080, 42'512'970};
            if (options->floats > 0) sizes = {static_cast<std::size_t>(options->floats)};
            return run_on(parse_cluster(options->cluster), &arguments.count, &arguments.words,
                          [&](Cluster& cluster) {
                              bench_store(cluster, sizes, options->seconds, options->calibrate);
                          });
        });
    command.starts_mpi = true;
}

void add_sum(CLI::App& group, Commands& commands) {
    struct Options {
        std::string cluster = "mpi";
        std::int64_t floats = 0;
        double seconds = 3;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.text("cluster", options->cluster, "CLUSTER", "mpi or threads:N");
    table.whole("floats", options->floats, {0, 1'000'000'000},
                "that are summed up; 0: those of Caffe's LeNet, then those of ResNet-101");
    table.number("seconds", options->seconds, {0.01, longest}, "to measure for, each line");
    auto& command = add_command(
        group, commands, "sum",
        "sums over all ranks against plain copies and MPI_Allreduce (under mpiexec)",
        std::move(table), [options](Arguments& arguments) {
            std::vector<std::size_t> sizes = {431'080, 42'512'970};
            if (options->floats > 0) sizes = {static_cast<std::size_t>(options->floats)};
            return run_on(parse_cluster(options->cluster), &arguments.count, &arguments.words,
                          [&](Cluster& cluster) { bench_sum(cluster, sizes, options->seconds); });
        });
    command.starts_mpi = true;
}

void add_protocol(CLI::App& group, Commands& commands) {
    struct Options {
        std::string cluster = "mpi", model = "lenet5", protocol = "wasp";
        std::int64_t batch = 64, threads = 1;
        double seconds = 10;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.text("cluster", options->cluster, "CLUSTER", "mpi or threads:N");
    table.text("protocol", options->protocol, "SPEC", "see `wasp help protocols`");
    table.text("model", options->model, "NAME", "see `wasp help models`");
    table.whole("batch", options->batch, {1, 2048}, "images a step of each rank");
    table.whole("threads", options->threads, {1, 1024}, "of each rank");
    table.number("seconds", options->seconds, {0.1, longest}, "to measure for");
    auto& command = add_command(
        group, commands, "protocol",
        "steps with a protocol against steps of each rank alone (under mpiexec)", std::move(table),
        [options](Arguments& arguments) {
            const BenchProtocolOptions bench{.model = options->model,
                                             .protocol = options->protocol,
                                             .batch = static_cast<int>(options->batch),
                                             .threads = static_cast<int>(options->threads),
                                             .seconds = options->seconds};
            return run_on(parse_cluster(options->cluster), &arguments.count, &arguments.words,
                          [&](Cluster& cluster) { bench_protocol(cluster, bench); });
        });
    command.starts_mpi = true;
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
