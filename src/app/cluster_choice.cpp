#include "cluster_choice.hpp"

#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/spec.hpp"
#include "cluster/launcher.hpp"

namespace wasp {

ClusterChoice parse_cluster(std::string_view text) {
    static constexpr std::array<std::string_view, 2> known{"mpi", "threads:N"};
    constexpr std::string_view prefix = "threads:";
    constexpr std::int64_t most = 1024;
    if (text == "mpi") return {};
    REQUIRE(text.starts_with(prefix), "{}", unknown_name("--cluster", text, known));
    const auto threads = parse_whole(text.substr(prefix.size()));
    REQUIRE(threads && *threads >= 1 && *threads <= most,
            "--cluster {}: N must be a whole number from 1 to {}", text, most);
    return {static_cast<int>(*threads)};
}

int run_on(const ClusterChoice& choice, int* argc, char*** argv,
           const std::function<void(Cluster&)>& body) {
    if (choice.threads == 0) return run_on_mpi(argc, argv, body);
    REQUIRE(launched_ranks() <= 1,
            "--cluster threads:{} under a launcher that started {} processes: each would train by "
            "itself; leave out either",
            choice.threads, launched_ranks());
    run_on_threads(choice.threads, body);
    return 0;
}

}  // namespace wasp
