#include "schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "bytes.hpp"
#include "h5/atomic_file.hpp"

namespace wasp {

namespace {

constexpr std::string_view first_line = "wasp schedule 1";
constexpr std::size_t turns_per_line = 40;

std::vector<std::int64_t> whole_numbers(std::istringstream& line, const std::string& where) {
    std::vector<std::int64_t> numbers;
    for (std::string word; line >> word;) {
        const auto number = parse_whole(word);
        REQUIRE(number && *number >= 0, "{}: '{}' must be a whole number", where, word);
        numbers.push_back(*number);
    }
    return numbers;
}

Schedule read(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string text;
    REQUIRE(file && std::getline(file, text) && text == first_line,
            "--replay '{}': missing, or no schedule that --record-schedule wrote", path.string());
    Schedule schedule;
    for (std::size_t number = 2; std::getline(file, text); ++number) {
        const auto where = fmt::format("{}, line {}", path.string(), number);
        std::istringstream line(text);
        std::string what;
        line >> what;
        if (what == "protocol") {
            line >> schedule.protocol;
        } else if (what == "steps") {
            schedule.steps = whole_numbers(line, where);
        } else if (what == "turns") {
            for (const std::int64_t rank : whole_numbers(line, where)) {
                REQUIRE(rank < std::ssize(schedule.steps), "{}: there is no rank {}", where, rank);
                schedule.turns.push_back(static_cast<int>(rank));
            }
        } else {
            REQUIRE(false, "{}: expected protocol, steps or turns, got '{}'", where, what);
        }
    }
    return schedule;
}

}  // namespace

Schedule read_schedule(Cluster& cluster, const std::filesystem::path& path,
                       const std::string& protocol) {
    Schedule schedule;
    ByteWriter message;
    collectively(cluster, [&] {
        if (cluster.rank() != 0) return;
        schedule = read(path);
        REQUIRE(schedule.protocol == protocol, "--replay '{}' is of --protocol {}, not {}",
                path.string(), schedule.protocol, protocol);
        REQUIRE(std::ssize(schedule.steps) == cluster.size(),
                "--replay '{}' is of {} ranks, not {}", path.string(), schedule.steps.size(),
                cluster.size());
        message.add(schedule.steps);
        message.add(schedule.turns);
    });
    std::vector<std::byte> bytes(message.bytes().begin(), message.bytes().end());
    std::uint64_t size = bytes.size();
    cluster.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
    bytes.resize(size);
    cluster.broadcast(bytes, 0);
    ByteReader reader(bytes);
    reader.read(schedule.steps);
    reader.read(schedule.turns);
    return schedule;
}

void write_schedule(const std::filesystem::path& path, const Schedule& schedule) {
    std::string text = fmt::format("{}\nprotocol {}\nsteps {}", first_line, schedule.protocol,
                                   fmt::join(schedule.steps, " "));
    for (std::size_t i = 0; i < schedule.turns.size(); ++i)
        text += fmt::format("{}{}", i % turns_per_line == 0 ? "\nturns " : " ", schedule.turns[i]);
    text += '\n';
    REQUIRE(h5::create_file(path, std::as_bytes(std::span(text))),
            "--record-schedule '{}' exists; give another name", path.string());
}

Schedule gather_schedule(Cluster& cluster, const std::string& protocol, std::int64_t steps,
                         std::span<const std::int64_t> turns, int root) {
    std::vector<std::int64_t> mine{steps};
    mine.insert(mine.end(), turns.begin(), turns.end());
    Schedule schedule;
    std::vector<std::pair<std::int64_t, int>> order;  // number of the turn, rank
    for (const auto& bytes : cluster.gather(std::as_bytes(std::span(mine)), root)) {
        std::vector<std::int64_t> theirs(bytes.size() / sizeof(std::int64_t));
        std::ranges::copy(bytes, std::as_writable_bytes(std::span(theirs)).begin());
        const int rank = static_cast<int>(schedule.steps.size());
        schedule.steps.push_back(theirs.front());
        for (auto turn = theirs.begin() + 1; turn != theirs.end(); ++turn)
            order.emplace_back(*turn, rank);
    }
    if (cluster.rank() != root) return schedule;
    schedule.protocol = protocol;
    std::ranges::sort(order);
    for (const auto& [turn, rank] : order) schedule.turns.push_back(rank);
    return schedule;
}

}  // namespace wasp
