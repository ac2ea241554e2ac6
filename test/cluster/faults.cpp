// What the private parts of the room say when something is wrong with a rank or the machine.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "../../src/cluster/block_memory.hpp"
#include "../../src/cluster/neighbours.hpp"
#include "../../src/cluster/shared_memory.hpp"
#include "base/error.hpp"

namespace wasp {
namespace {

std::string message_of(const std::function<void()>& work) {
    try {
        work();
        return "no error";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(Faults, ABlockThatIsNotLetGoOfNamesItsHolder) {
    run_on_threads(1, [](Cluster& cluster) {
        cluster.set_stall_seconds(0.02);
        AlignedFloats floats(3 * Window::block);
        std::vector<BlockLock> locks(3);
        BlockMemory memory(floats, locks);
        locks[1].holder = LockHolder{.rank = 5, .pid = 4321}.word();
        const std::vector<float> ones(floats.size(), 1.0F);
        EXPECT_EQ(message_of([&] {
                      memory.add(cluster, {0, 1}, 0, 1, ones);
                  }),
                  "waited 0.02 s for block 1 of a window, held by rank 5 (pid 4321)");
        EXPECT_EQ(floats[0], 1.0F);
        EXPECT_EQ(floats[Window::block], 0.0F);
        EXPECT_EQ(floats[2 * Window::block], 1.0F);
        EXPECT_EQ(message_of([&] {
                      memory.add(cluster, {0, 1}, 0, 1, std::span(ones).first(9));
                  }),
                  "no error");
    });
}

TEST(Faults, AProcessThatEndedIsMissed) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const std::vector<Neighbours::Neighbour> all = {{0, getpid()}, {7, child}};
    Neighbours neighbours(all);
    neighbours.check(0, "here");
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    neighbours.check(0.1, "here");  // it does not look all the time
    EXPECT_EQ(message_of([&] { neighbours.check(1, "here"); }),
              fmt::format("rank 7 (process {} on here) is gone", child));
    Neighbours unseen(all);
    unseen.check(0, "here");  // who was never there is not missed
}

TEST(Faults, SharedMemoryThatIsNotThereIsRefused) {
    const std::size_t much = std::size_t{1} << 42U;
    SharedMemory memory(SharedMemory::unique_name(), much, true);
    memory.unlink();
    const std::string message = message_of([&] { memory.reserve(0, much); });
    EXPECT_NE(message.find("4194304.0 MiB of shared memory"), std::string::npos) << message;
    EXPECT_NE(message.find("MiB free of"), std::string::npos) << message;
}

TEST(Faults, TheNameOfSharedMemoryGoesWithWhoeverMadeIt) {
    const std::string name = SharedMemory::unique_name();
    {
        const SharedMemory made(name, 1, true);
        EXPECT_EQ(message_of([&] { SharedMemory(name, 1, false); }), "no error");
    }
    EXPECT_NE(message_of([&] { SharedMemory(name, 1, false); }), "no error");
}

}  // namespace
}  // namespace wasp
