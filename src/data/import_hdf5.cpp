#include "base/error.hpp"
#include "dataset_reader.hpp"
#include "memory_need.hpp"
#include "own_file.hpp"

namespace wasp {

std::string import_hdf5(const std::filesystem::path& file,
                        const std::optional<std::filesystem::path>& test_file,
                        const Interpretation& interpretation, const std::filesystem::path& out) {
    check_target(out);
    DatasetReader reader(file, interpretation, test_file);
    REQUIRE(reader.has_test(), "{}: holds one split only; give a second file, with the test data",
            file.string());
    check_memory_need(file.string(), 2 * reader.bytes());  // the file to be is made in memory
    Dataset dataset = read_dataset(reader);
    dataset.name = out.stem().string();
    write_own_file(out, dataset);
    return fmt::format("{}: {} + {} images ({},{},{}), {} classes, from {}", out.string(),
                       dataset.train.size(), dataset.test.size(), dataset.shape.channels,
                       dataset.shape.height, dataset.shape.width, dataset.classes, dataset.layout);
}

}  // namespace wasp
