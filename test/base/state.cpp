// One list of items both writes and reads; what does not fit it is refused, never taken.
#include "base/state.hpp"

#include <gtest/gtest.h>

#include <array>

namespace wasp {
namespace {

struct Thing {
    std::int64_t steps = 0;
    double seconds = 0;
    std::array<float, 3> velocity{};
    std::vector<std::int32_t> rows;

    void visit(State& state) {
        state.value("steps", steps);
        state.value("seconds", seconds);
        state.values("velocity", std::span<float>(velocity));
        state.list("rows", rows);
    }
};

Thing example() {
    return {.steps = 7, .seconds = 0.1, .velocity = {1, -0.0F, 3e-39F}, .rows = {4, 5, 6, 7}};
}

std::vector<std::byte> written(Thing thing) {
    StateWriter writer;
    thing.visit(writer);
    return {writer.bytes().begin(), writer.bytes().end()};
}

TEST(State, ComesBackBitForBit) {
    const auto bytes = written(example());
    Thing thing{.rows = {1}};
    StateReader reader(bytes, "here");
    thing.visit(reader);
    reader.done();
    EXPECT_EQ(written(thing), bytes);
}

template <class Visit>
std::string refusal(std::span<const std::byte> bytes, Visit visit) {
    try {
        StateReader reader(bytes, "here");
        visit(reader);
        reader.done();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    return "";
}

TEST(State, WhatIsCutShortIsRefusedWhereverItIsCut) {
    const auto bytes = written(example());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_NE(refusal(std::span(bytes).first(size), [](State& state) { Thing().visit(state); }),
                  "")
            << size;
}

TEST(State, ItemsOfAnotherNameSizeOrNumberAreRefused) {
    const auto bytes = written(example());
    std::int64_t whole = 0;
    std::int32_t half = 0;
    EXPECT_NE(refusal(bytes, [&](State& state) { state.value("step", whole); }), "");
    EXPECT_NE(refusal(bytes, [&](State& state) { state.value("stepz", whole); }), "");
    EXPECT_NE(refusal(bytes, [&](State& state) { state.value("steps", half); }), "");
    EXPECT_NE(refusal(bytes, [&](State& state) { state.value("steps", whole); }), "");
    EXPECT_NE(refusal(bytes,
                      [](State& state) {
                          Thing().visit(state);
                          std::int64_t one_more = 0;
                          state.value("one more", one_more);
                      }),
              "");
}

TEST(State, AListThatClaimsToBeLongerThanTheFileIsRefusedBeforeMemoryIsTaken) {
    StateWriter writer;
    std::uint64_t length = ~std::uint64_t{0} / 8;
    writer.value("rows", length);
    std::vector<double> rows;
    EXPECT_NE(refusal(writer.bytes(), [&](State& state) { state.list("rows", rows); }), "");
    EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace wasp
