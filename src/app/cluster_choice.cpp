#include "cluster_choice.hpp"

#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/spec.hpp"
#include "cluster/launcher.hpp"

namespace wasp {

namespace {

#ifdef HAVE_SIMGRID
constexpr bool has_simgrid = true;
#else
constexpr bool has_simgrid = false;
#endif

void run_in_virtual_time(const SimChoice& choice, const SimWork& work,
                         const std::function<void(Cluster&)>& body) {
    REQUIRE(!work.model.empty(), "--cluster sim:… is for wasp train: here real time is measured");
    require_virtual_time("--cluster sim:…");
#ifdef HAVE_SIMGRID
    const auto& platform = choice.platform;
    const Machine machine =
        is_platform_file(platform) ? read_platform(platform) : machine_preset(platform);
    run_on_sim(sim_options(choice, machine, work), body);
#else
    static_cast<void>(choice);
    static_cast<void>(body);
#endif
}

}  // namespace

void require_virtual_time(std::string_view what) {
    REQUIRE(has_simgrid, "{} needs SimGrid, and this program was built without (SIMGRID=0)", what);
}

ClusterChoice parse_cluster(std::string_view text) {
    static constexpr std::array<std::string_view, 3> known{"mpi", "threads:N",
                                                           "sim:PLATFORM,ranks=N"};
    constexpr std::string_view threads_prefix = "threads:", sim_prefix = "sim:";
    constexpr std::int64_t most = 1024;
    if (text == "mpi") return {};
    if (text.starts_with(sim_prefix)) return {.sim = parse_sim(text.substr(sim_prefix.size()))};
    REQUIRE(text.starts_with(threads_prefix), "{}", unknown_name("--cluster", text, known));
    const auto threads = parse_whole(text.substr(threads_prefix.size()));
    REQUIRE(threads && *threads >= 1 && *threads <= most,
            "--cluster {}: N must be a whole number from 1 to {}", text, most);
    return {.threads = static_cast<int>(*threads)};
}

int run_on(const ClusterChoice& choice, int* argc, char*** argv,
           const std::function<void(Cluster&)>& body, const SimWork& work) {
    const bool one_process = choice.threads > 0 || choice.sim;
    if (!one_process) return run_on_mpi(argc, argv, body);
    REQUIRE(launched_ranks() <= 1,
            "--cluster {} under a launcher that started {} processes: each would train by itself; "
            "leave out either",
            choice.sim ? "sim:…" : fmt::format("threads:{}", choice.threads), launched_ranks());
    if (choice.sim)
        run_in_virtual_time(*choice.sim, work, body);
    else
        run_on_threads(choice.threads, body);
    return 0;
}

}  // namespace wasp
