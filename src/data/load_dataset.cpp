#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "dataset_reader.hpp"

namespace wasp {

namespace {

/// All nodes must have read the same data: a file may have been copied to each of them.
void compare_nodes(Cluster& cluster, const Dataset& dataset) {
    auto first = dataset.sha256;
    first.resize(sizeof Facts::sha256);
    cluster.broadcast(std::as_writable_bytes(std::span(first)), 0);
    first.resize(std::min(first.size(), first.find('\0')));
    collectively(cluster, [&] {
        REQUIRE(dataset.sha256 == first,
                "the data set on {} (sha256 {:.12}…) is not that of rank 0 ({:.12}…)",
                cluster.place().host, dataset.sha256, first);
    });
}

}  // namespace

Dataset load_dataset(const std::filesystem::path& path, Cluster& cluster) {
    const Place& place = cluster.place();
    const bool one_memory = cluster.is_virtual();  // all nodes are in this process
    const bool reads = place.rank_on_node == 0 && (place.node == 0 || !one_memory);
    std::unique_ptr<DatasetReader> reader;
    collectively(cluster, [&] {
        if (!reads) return;
        reader = std::make_unique<DatasetReader>(path);
        REQUIRE(
            reader->has_test(),
            "{}: holds one split only; join training and test data with 'wasp data import hdf5'",
            path.string());
    });
    const std::shared_ptr<NodeMemory> memory =
        cluster.make_node_memory(reads ? reader->bytes() : 0);
    collectively(cluster, [&] {
        if (reads) reader->fill(memory->bytes());
    });
    auto dataset = view_of(memory->bytes().data(), memory);
    compare_nodes(cluster, dataset);
    return dataset;
}

}  // namespace wasp
