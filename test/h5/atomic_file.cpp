// Files that are complete at every moment.
#include "h5/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "support/scratch.hpp"
#include "support/traced_process.hpp"

namespace wasp {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

std::span<const std::byte> as_bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class Action>
void expect_error(ExitCode code, const std::string& path, Action action) {
    try {
        action();
        FAIL() << path << " was written";
    } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_EQ(error.code(), code) << message;
        EXPECT_NE(message.find(path), std::string::npos) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

/// Files can't grow beyond `bytes` while this lives, as if the disk were full.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int);
};

/// Root may write everywhere; "nobody" may not.
class WithoutPrivileges {
public:
    WithoutPrivileges() : privileged_(geteuid() == 0) {
        constexpr uid_t nobody = 65534;
        if (privileged_ && seteuid(nobody) != 0) throw std::runtime_error("seteuid");
    }
    WithoutPrivileges(const WithoutPrivileges&) = delete;
    WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;
    ~WithoutPrivileges() {
        if (privileged_ && seteuid(0) != 0) std::abort();
    }

private:
    bool privileged_;
};

TEST(AtomicFile, IsCreatedOnceAndReplacedAsOftenAsOneLikes) {
    const test::Scratch folder;
    EXPECT_TRUE(h5::create_file(folder / "a", as_bytes("first")));
    EXPECT_FALSE(h5::create_file(folder / "a", as_bytes("second")));
    EXPECT_EQ(content(folder / "a"), "first");
    h5::replace_file(folder / "a", as_bytes("third"));
    EXPECT_EQ(content(folder / "a"), "third");
    h5::check_writable(folder / "a");
    h5::check_writable(folder / "b");
    EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, HasTheRightsThatOthersExpect) {
    const test::Scratch folder;
    const mode_t before = umask(0027);
    h5::create_file(folder / "a", as_bytes("x"));
    umask(before);
    struct stat facts {};
    ASSERT_EQ(stat((folder / "a").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

TEST(AtomicFile, OfOneNameGoesToOneOfManyThatCreateIt) {
    const test::Scratch folder;
    for (int round = 0; round < 20; ++round) {
        const auto path = folder / std::to_string(round);
        std::atomic<int> created = 0, winner = -1;
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 8; ++i)
                threads.emplace_back([&, i] {
                    if (!h5::create_file(path, as_bytes(std::to_string(i)))) return;
                    ++created;
                    winner = i;
                });
        }
        EXPECT_EQ(created, 1);
        EXPECT_EQ(content(path), std::to_string(winner));
    }
    EXPECT_EQ(folder.names().size(), 20U);
}

TEST(AtomicFile, OnAFullDiskLeavesTheEarlierOne) {
    const test::Scratch folder;
    const std::string large(100'000, 'x');
    h5::replace_file(folder / "a", as_bytes("earlier"));
    for (const rlim_t room : {0U, 1U, 4096U, 99'999U}) {
        const FullDisk full(room);
        expect_error(ExitCode::fault, (folder / "a").string(),
                     [&] { h5::replace_file(folder / "a", as_bytes(large)); });
        expect_error(ExitCode::fault, (folder / "b").string(),
                     [&] { h5::create_file(folder / "b", as_bytes(large)); });
    }
    EXPECT_EQ(content(folder / "a"), "earlier");
    EXPECT_EQ(folder.names(), Names{"a"});
    const FullDisk just_not_full(100'000);
    h5::replace_file(folder / "a", as_bytes(large));
    EXPECT_EQ(content(folder / "a"), large);
}

TEST(AtomicFile, OnAPathThatCannotBeIsRefusedAsTheUsersMistake) {
    const test::Scratch folder;
    h5::replace_file(folder / "file", as_bytes("x"));
    fs::create_directory(folder / "folder");
    for (const auto& path :
         {folder / "missing" / "a", folder / "file" / "a", folder / "folder",
          fs::path((folder / "folder").string() + "/"), folder / std::string(300, 'n')}) {
        expect_error(ExitCode::usage, path.string(),
                     [&] { h5::replace_file(path, as_bytes("x")); });
        expect_error(ExitCode::usage, path.string(), [&] { h5::check_writable(path); });
    }
    EXPECT_EQ(folder.names(), (Names{"file", "folder"}));
}

TEST(AtomicFile, InAFolderOfOthersIsRefusedAsTheUsersMistake) {
    const test::Scratch folder;
    fs::permissions(folder.path(), fs::perms(0755));
    fs::create_directory(folder / "theirs");
    fs::permissions(folder / "theirs", fs::perms(0555));
    const WithoutPrivileges unprivileged;
    const auto path = folder / "theirs" / "a";
    expect_error(ExitCode::usage, path.string(), [&] { h5::create_file(path, as_bytes("x")); });
    expect_error(ExitCode::usage, path.string(), [&] { h5::check_writable(path); });
}

/// At every system call of creating a file and replacing it.
TEST(AtomicFile, IsTheOldOrTheNewOneWheneverTheWriterIsKilled) {
    const std::string old(10'000, 'o'), fresh(20'000, 'n');
    const test::Scratch folder;
    const auto path = folder / "a";
    bool existed = false;
    const auto ended = test::look_at_every_system_call(
        [&] {
            h5::create_file(path, as_bytes(old));
            h5::replace_file(path, as_bytes(fresh));
        },
        [&] {
            EXPECT_LE(folder.names().size(), 2U);  // at most one more, which is being written
            EXPECT_TRUE(fs::exists(path) || !existed);
            if (!fs::exists(path)) return;
            existed = true;
            const auto found = content(path);
            EXPECT_TRUE(found == old || found == fresh);
        });
    if (!ended) GTEST_SKIP() << "processes can't be traced here";
    EXPECT_TRUE(*ended);
    EXPECT_TRUE(existed);
    EXPECT_EQ(content(path), fresh);
}

}  // namespace
}  // namespace wasp
