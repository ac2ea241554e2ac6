#include <memory>

#include "app/train_config.hpp"
#include "cluster_choice.hpp"
#include "command.hpp"
#include "signals.hpp"
#include "train.hpp"
#include "train_options.hpp"

namespace wasp {

void add_train_command(CLI::App& program, Commands& commands) {
    const auto config = std::make_shared<TrainConfig>();
    auto& command = add_command(
        program, commands, "train", "train a model (under mpiexec or srun, or alone)",
        train_options(*config), [config](Arguments& arguments) {
            check(*config);
            outlive_terminal();
            return run_on(parse_cluster(config->cluster), &arguments.count, &arguments.words,
                          [&](Cluster& cluster) { train(cluster, *config, arguments.text()); });
        });
    command.starts_mpi = true;
    add_config_file(command);
}

}  // namespace wasp
