// Letters between nodes: one that has not arrived as a whole is never read.
#include "../../src/cluster/sealed.hpp"

#include <gtest/gtest.h>

namespace wasp {
namespace {

struct Message {
    std::int64_t amount;
    float scale;
    std::uint32_t count;
    bool operator==(const Message&) const = default;
};

TEST(Sealed, AMessageIsThereWhenItsLastWordIsInWhateverOrder) {
    const Message before{-1, 1.5F, 3};
    const Message after{std::int64_t{1} << 62U, -0.25F, 0xFFFFFFFFU};
    const auto old_words = seal(before, 7);
    const auto new_words = seal(after, 15);
    const std::size_t all = (1U << new_words.size()) - 1;
    for (std::size_t arrived = 0; arrived <= all; ++arrived) {
        auto words = old_words;
        for (std::size_t i = 0; i < words.size(); ++i)
            if ((arrived >> i & 1U) != 0) words[i] = new_words[i];
        EXPECT_EQ(unseal<Message>(words, 7).has_value(), arrived == 0);
        ASSERT_EQ(unseal<Message>(words, 15).has_value(), arrived == all) << arrived;
    }
    auto words = new_words;
    EXPECT_EQ(*unseal<Message>(words, 15), after);
}

TEST(Sealed, MemoryThatWasNeverWrittenToHoldsNoMessage) {
    Sealed<Message> words{};
    EXPECT_FALSE(unseal<Message>(words, 1).has_value());
}

}  // namespace
}  // namespace wasp
