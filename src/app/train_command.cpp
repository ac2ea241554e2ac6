#include <memory>
#include <optional>

#include "app/train_config.hpp"
#include "base/failure.hpp"
#include "cluster/launcher.hpp"
#include "cluster_choice.hpp"
#include "command.hpp"
#include "guardian.hpp"
#include "protocols/protocol.hpp"
#include "signals.hpp"
#include "train.hpp"
#include "train_options.hpp"

namespace wasp {

namespace {

/// Whether the results will be written by this process, before there are ranks.
bool will_write_results(const TrainConfig& config) {
    const bool in_one_process = config.cluster != "mpi";
    bool writes = in_one_process;
    if (!in_one_process)
        static_cast<void>(failure_of([&] {  // who can't train will be told later
            const auto facts = protocol_facts(config.protocol);
            writes = facts.team(launched_rank(), launched_ranks()).worker == 0;
        }));
    return writes;
}

}  // namespace

void add_train_command(CLI::App& program, Commands& commands) {
    const auto config = std::make_shared<TrainConfig>();
    auto& command = add_command(
        program, commands, "train", "train a model (under mpiexec or srun, or alone)",
        train_options(*config), [config](Arguments& arguments) {
            check(*config);
            outlive_terminal();
            catch_stop_signals();
            std::optional<Guardian> guardian;
            if (will_write_results(*config)) guardian.emplace();
            const Guardian* const of_writer = guardian ? &*guardian : nullptr;
            return run_on(
                parse_cluster(config->cluster), &arguments.count, &arguments.words,
                [&](Cluster& cluster) { train(cluster, *config, arguments.text(), of_writer); },
                {.model = config->model,
                 .batch = config->batch,
                 .seed = static_cast<std::uint64_t>(config->seed),
                 .threads = static_cast<int>(config->threads.value_or(1))});
        });
    command.starts_mpi = true;
    add_config_file(command);
}

}  // namespace wasp
