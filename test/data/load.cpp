// Loading on several ranks: one copy a node, one error for all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "data/dataset.hpp"
#include "data/import.hpp"
#include "support/files.hpp"
#include "support/on_ranks.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

/// A folder of rank 0 whose name all ranks know, while this object lives at rank 0.
class SharedScratch {
public:
    explicit SharedScratch(Cluster& cluster) : cluster_(cluster) {
        std::array<char, 256> name{};
        if (cluster.rank() == 0) {
            mine_ = std::make_unique<test::Scratch>();
            mine_->path().string().copy(name.data(), name.size() - 1);
        }
        cluster.broadcast(std::as_writable_bytes(std::span(name)), 0);
        path_ = name.data();
    }
    SharedScratch(const SharedScratch&) = delete;
    SharedScratch& operator=(const SharedScratch&) = delete;
    ~SharedScratch() { cluster_.barrier(); }

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
    Cluster& cluster_;
    std::unique_ptr<test::Scratch> mine_;
    std::filesystem::path path_;
};

TEST(RanksLoadDataset, AllRanksSeeTheSameSynthesisedData) {
    test::on_ranks({1, 2, 4}, [](Cluster& cluster) {
        const SharedScratch folder(cluster);
        const auto file = folder / "synth.h5";
        if (cluster.rank() == 0)
            synthesise({.classes = 4, .shape = {3, 8, 8}, .train = 60, .test = 20, .seed = 7},
                       file);
        cluster.barrier();
        const auto dataset = load_dataset(file, cluster);
        EXPECT_EQ(dataset.name, "synth");
        EXPECT_EQ(dataset.classes, 4);
        EXPECT_EQ(dataset.shape, (ImageShape{3, 8, 8}));
        EXPECT_EQ(dataset.train.size(), 60U);
        EXPECT_EQ(dataset.test.size(), 20U);
        EXPECT_EQ(dataset.sha256.size(), 64U);

        double total = 0;
        for (const std::byte pixel : dataset.train.images) total += std::to_integer<int>(pixel);
        double sum = total;
        cluster.sum(std::span(&sum, 1));
        EXPECT_EQ(sum, total * cluster.size());
        cluster.barrier();
    });
}

TEST(RanksLoadDataset, RanksOfANodeShareOneCopy) {
    test::on_ranks({2, 4}, [](Cluster& cluster) {
        const SharedScratch folder(cluster);
        const auto file = folder / "synth.h5";
        if (cluster.rank() == 0) synthesise({.train = 20, .test = 10}, file);
        cluster.barrier();
        const auto dataset = load_dataset(file, cluster);
        // A change by the last rank is seen by all of its node: nobody has a copy of his own.
        const auto& place = cluster.place();
        auto* first = const_cast<std::byte*>(dataset.train.images.data());
        if (place.rank_on_node == place.ranks_on_node - 1) *first ^= std::byte{0x5a};
        cluster.barrier();
        std::vector<std::byte> seen{*first};
        for (const auto& other : cluster.gather(seen, 0)) EXPECT_EQ(other, seen);
        cluster.barrier();
    });
}

TEST(RanksLoadDataset, AllRanksThrowTheSameError) {
    test::on_ranks({1, 2, 4}, [](Cluster& cluster) {
        const SharedScratch folder(cluster);
        if (cluster.rank() == 0) test::write_file(folder / "page.h5", "<!DOCTYPE html><html>");
        cluster.barrier();
        const auto missing =
            test::refusal_of([&] { load_dataset(folder / "nothing.h5", cluster); });
        EXPECT_TRUE(test::contains(missing, "nothing.h5: no such file")) << missing;
        const auto page = test::refusal_of([&] { load_dataset(folder / "page.h5", cluster); });
        EXPECT_TRUE(test::contains(page, "web page")) << page;
        cluster.barrier();
    });
}

class OneRank : public testing::Test {
protected:
    Dataset load(const SynthSetup& setup) {
        synthesise(setup, folder_ / "synth.h5");
        Dataset dataset;
        run_on_threads(
            1, [&](Cluster& cluster) { dataset = load_dataset(folder_ / "synth.h5", cluster); });
        return dataset;
    }
    test::Scratch folder_;
};

using Batches = OneRank;

TEST_F(Batches, PointToTheImagesAndLabelsThatWereAskedFor) {
    const auto dataset = load({.classes = 3, .shape = {2, 5, 4}, .train = 30, .test = 6});
    BatchMaker maker(dataset, dataset.train);
    const std::vector<std::uint32_t> indices{29, 0, 7, 7};
    const auto batch = maker.make(indices);
    ASSERT_EQ(batch.size(), indices.size());
    EXPECT_EQ(batch.pixel_type, PixelType::uint8);
    EXPECT_EQ(batch.scale.size(), 2U);
    EXPECT_EQ(batch.shift.size(), 2U);
    for (std::size_t i = 0; i < indices.size(); ++i) {
        EXPECT_EQ(batch.images[i], dataset.train.image(indices[i]));
        EXPECT_EQ(batch.labels[i], dataset.train.labels[indices[i]]);
    }
    EXPECT_EQ(maker.make(std::span(indices).first(2)).size(), 2U);
}

TEST_F(Batches, APartOfASplitIsThoseImages) {
    const auto dataset = load({.classes = 3, .shape = {1, 4, 4}, .train = 30, .test = 6});
    const auto part = dataset.train.part(10, 5);
    ASSERT_EQ(part.size(), 5U);
    EXPECT_EQ(part.image(0), dataset.train.image(10));
    EXPECT_EQ(part.images.size(), 5U * 16);
    EXPECT_EQ(part.labels[4], dataset.train.labels[14]);
    EXPECT_EQ(dataset.train.part(30, 0).size(), 0U);
    EXPECT_THROW(dataset.train.part(29, 2), Error);
    EXPECT_THROW(dataset.train.part(31, 0), Error);
}

}  // namespace
}  // namespace wasp
