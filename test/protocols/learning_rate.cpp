#include "protocols/learning_rate.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace wasp {
namespace {

TEST(LearningRate, Constant) {
    const LearningRate rate("constant", 0.1, 0, 10);
    for (const double epoch : {0.0, 3.7, 10.0, 99.0}) EXPECT_EQ(rate.at(epoch), 0.1);
}

TEST(LearningRate, StepFallsAtWholeMultiples) {
    const LearningRate rate("step:every=30,factor=0.1", 1.0, 0, 90);
    EXPECT_DOUBLE_EQ(rate.at(29.999), 1.0);
    EXPECT_DOUBLE_EQ(rate.at(30.0), 0.1);
    EXPECT_NEAR(rate.at(60.0), 0.01, 1e-15);
    EXPECT_NEAR(rate.at(89.9), 0.01, 1e-15);
}

TEST(LearningRate, CosineGoesFromBaseToFloor) {
    const LearningRate rate("cosine:floor=0.1", 1.0, 0, 10);
    EXPECT_DOUBLE_EQ(rate.at(0), 1.0);
    EXPECT_NEAR(rate.at(5), 0.55, 1e-12);
    EXPECT_NEAR(rate.at(10), 0.1, 1e-12);
    EXPECT_NEAR(rate.at(12), 0.1, 1e-12);  // stays there
}

TEST(LearningRate, PolyEndsAtZero) {
    const LearningRate rate("poly:power=2", 1.0, 0, 10);
    EXPECT_DOUBLE_EQ(rate.at(0), 1.0);
    EXPECT_DOUBLE_EQ(rate.at(5), 0.25);
    EXPECT_DOUBLE_EQ(rate.at(10), 0.0);
}

TEST(LearningRate, WarmUpIsLinearFromATenthAndJoinsTheSchedule) {
    const LearningRate rate("cosine", 1.0, 5, 15);
    EXPECT_DOUBLE_EQ(rate.at(0), 0.1);
    EXPECT_DOUBLE_EQ(rate.at(2.5), 0.55);
    EXPECT_NEAR(rate.at(4.999999), 1.0, 1e-5);
    EXPECT_DOUBLE_EQ(rate.at(5), 1.0);
    EXPECT_NEAR(rate.at(10), 0.5, 1e-12);
}

TEST(LearningRate, ARunNoLongerThanItsWarmUp) {
    const LearningRate rate("cosine", 1.0, 5, 5);
    EXPECT_DOUBLE_EQ(rate.at(5), 1.0);
}

TEST(LearningRate, WrongSpecsAreUsageErrors) {
    for (const auto* spec :
         {"", "cosin", "step", "step:every=0", "step:every=x", "step:every=1,factor=2",
          "step:every=1,evry=2", "cosine:floor=2", "poly:power", "poly:power=1,power=2",
          "constant:every=3", "cosine:floor=nan"}) {
        try {
            const LearningRate rate(spec, 1.0, 0, 10);
            ADD_FAILURE() << "accepted '" << spec << "'";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage) << spec;
        }
    }
}

TEST(LearningRate, AnUnknownScheduleNamesTheNearest) {
    try {
        const LearningRate rate("cosin", 1.0, 0, 10);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("'cosine'"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace wasp
