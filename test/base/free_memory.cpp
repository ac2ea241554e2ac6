// How much memory is left, by what Linux says of control groups.
#include "base/free_memory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/scratch.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public testing::Test {
protected:
    void write(const std::string& file, const std::string& text) {
        const auto path = root.path() / file;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    }
    std::optional<std::size_t> free() const { return free_in_control_groups(root.path()); }

    test::Scratch root;
};

TEST_F(ControlGroups, NoneNoLimit) {
    EXPECT_FALSE(free());
    write("proc/self/cgroup", "0::/user.slice\nnonsense\n:\n");
    EXPECT_FALSE(free());
    write("sys/fs/cgroup/user.slice/memory.max", "max");
    write("sys/fs/cgroup/user.slice/memory.current", "5000");
    EXPECT_FALSE(free());
}

TEST_F(ControlGroups, Version2CountsAllGroupsAbove) {
    write("proc/self/cgroup", "0::/slurm/job_7/step_0");
    const std::string slurm = "sys/fs/cgroup/slurm/";
    write(slurm + "job_7/memory.max", "1000000");
    write(slurm + "job_7/memory.current", "700000");
    EXPECT_EQ(free(), 300000U);
    write(slurm + "job_7/memory.stat", "anon 1\nactive_file 5\ninactive_file 200000");
    EXPECT_EQ(free(), 500000U);
    write(slurm + "job_7/step_0/memory.max", "max");
    write(slurm + "job_7/step_0/memory.current", "600000");
    EXPECT_EQ(free(), 500000U);
    write(slurm + "job_7/step_0/memory.max", "610000");
    EXPECT_EQ(free(), 10000U);
    write(slurm + "job_7/step_0/memory.current", "620000");
    EXPECT_EQ(free(), 0U);
}

TEST_F(ControlGroups, Version1InAContainerHasItsLimitAtTheTop) {
    write("proc/self/cgroup", "9:cpu,cpuacct:/docker/a\n4:memory:/docker/a\n0::/");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000");
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "250000");
    write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 50000");
    EXPECT_EQ(free(), 800000U);
    write("sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "99999999999999999999999");
    write("sys/fs/cgroup/memory/docker/a/memory.usage_in_bytes", "1");
    EXPECT_EQ(free(), 800000U);  // a limit that is no number of bytes is none
}

TEST(FreeMemory, IsKnownHere) {
    ASSERT_TRUE(free_memory());
    EXPECT_GT(*free_memory(), 0U);
}

}  // namespace
}  // namespace wasp
