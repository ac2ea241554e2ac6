// data/fetch, against servers of its own.
#include <gtest/gtest.h>

#include "support/scratch.hpp"
#include "support/wasp_program.hpp"

namespace wasp {
namespace {

TEST(Fetch, GoesOnVerifiesAndTriesTheNextMirror) {
    const test::Scratch folder;
    const auto outcome = test::run_command(
        {test::options.python, "test/data/check_fetch.py", folder.path().string()});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace wasp
