/// Data sets as the program would load them.
#pragma once

#include <filesystem>

#include "cluster/cluster.hpp"
#include "data/dataset.hpp"

namespace wasp::test {

inline Dataset load(const std::filesystem::path& path) {
    Dataset dataset;
    run_on_threads(1, [&](Cluster& cluster) { dataset = load_dataset(path, cluster); });
    return dataset;
}

}  // namespace wasp::test
