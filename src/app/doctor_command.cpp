#include <memory>

#include "base/error.hpp"
#include "cluster_choice.hpp"
#include "command.hpp"
#include "examination.hpp"

namespace wasp {

void add_doctor_command(CLI::App& program, Commands& commands) {
    struct Options {
        std::string cluster = "mpi", folder = ".";
        std::optional<std::int64_t> threads;
        double seconds = 0.3;
        bool strict = false;
    };
    const auto options = std::make_shared<Options>();
    OptionTable table;
    table.text("cluster", options->cluster, "CLUSTER", "mpi or threads:N");
    table.text("folder", options->folder, "DIR", "where results will be written");
    table.whole("threads", options->threads, {1, 1024}, "of each rank, as for `wasp train`");
    table.number("seconds", options->seconds, {0.01, 60}, "for each figure that is measured");
    table.flag("strict", options->strict, "end with code 1 when something is bad");
    auto& command = add_command(
        program, commands, "doctor",
        "looks at how ranks, cores, MPI and files are set up (start it as you start `wasp train`)",
        std::move(table), [options](Arguments& arguments) {
            std::optional<int> threads;
            if (options->threads) threads = static_cast<int>(*options->threads);
            return run_on(parse_cluster(options->cluster), &arguments.count, &arguments.words,
                          [&](Cluster& cluster) {
                              const bool well =
                                  doctor(cluster, options->folder, threads, options->seconds);
                              collectively(cluster, [&] {
                                  ENSURE(well || !options->strict, "the verdict is bad (--strict)");
                              });
                          });
        });
    command.starts_mpi = true;
}

}  // namespace wasp
