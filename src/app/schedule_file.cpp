#include "schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "base/text_file.hpp"
#include "h5/atomic_file.hpp"

namespace wasp {

namespace {

constexpr std::string_view first_line = "wasp schedule 3";
constexpr std::size_t turns_per_line = 40;
constexpr std::size_t most_bytes = std::size_t{1} << 30U;  // some hundred million turns

/// The last line of a schedule that begins with `text`.
/// Source: FNV-1a, 64 bits (Fowler, Noll, Vo 1991).
std::string last_line(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : text) {
        hash ^= static_cast<unsigned char>(letter);
        hash *= 0x100000001b3U;
    }
    return fmt::format("end {:016x}\n", hash);
}

/// Without the line that shows that nothing is missing.
std::string sound_part(const std::string& text, const std::filesystem::path& path) {
    REQUIRE(text.starts_with(first_line), "--replay '{}': no schedule that --record-schedule wrote",
            path.string());
    std::string part = text.substr(0, text.rfind("end "));
    REQUIRE(text == part + last_line(part),
            "--replay '{}': cut off or changed since --record-schedule wrote it", path.string());
    return part;
}

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
    std::istringstream file(sound_part(read_text_file(path, most_bytes), path));
    std::string text;
    std::getline(file, text);  // the first
    Schedule schedule;
    for (std::size_t number = 2; std::getline(file, text); ++number) {
        const auto where = fmt::format("{}, line {}", path.string(), number);
        std::istringstream line(text);
        std::string what;
        line >> what;
        if (what == "protocol") {
            std::getline(line >> std::ws, schedule.protocol);
        } else if (what == "length") {
            std::getline(line >> std::ws, schedule.length);
        } else if (what == "steps") {
            schedule.steps = whole_numbers(line, where);
        } else if (what == "turns") {
            for (const std::int64_t rank : whole_numbers(line, where)) {
                REQUIRE(rank < std::ssize(schedule.steps), "{}: there is no rank {}", where, rank);
                schedule.turns.push_back(static_cast<int>(rank));
            }
        } else {
            REQUIRE(false, "{}: expected protocol, length, steps or turns, got '{}'", where, what);
        }
    }
    return schedule;
}

}  // namespace

std::string length_in_words(const TrainConfig& config) {
    if (config.epochs) return fmt::format("epochs {}", *config.epochs);
    if (config.updates) return fmt::format("updates {}", *config.updates);
    return fmt::format("samples {}", config.samples.value_or(0));
}

Schedule read_schedule(Cluster& cluster, const std::filesystem::path& path,
                       const std::string& protocol, const std::string& length) {
    Schedule schedule;
    collectively(cluster, [&] {
        if (cluster.rank() != 0) return;
        schedule = read(path);
        REQUIRE(schedule.protocol == protocol, "--replay '{}' is of --protocol {}, not {}",
                path.string(), schedule.protocol, protocol);
        REQUIRE(std::ssize(schedule.steps) == cluster.size(),
                "--replay '{}' is of {} ranks, not {}", path.string(), schedule.steps.size(),
                cluster.size());
        REQUIRE(schedule.length == length, "--replay '{}' is of a run of --{}, not --{}",
                path.string(), schedule.length, length);
    });
    broadcast_list(cluster, schedule.steps, 0);
    broadcast_list(cluster, schedule.turns, 0);
    return schedule;
}

void write_schedule(const std::filesystem::path& path, const Schedule& schedule, bool replaces) {
    std::string text =
        fmt::format("{}\nprotocol {}\nlength {}\nsteps {}", first_line, schedule.protocol,
                    schedule.length, fmt::join(schedule.steps, " "));
    for (std::size_t i = 0; i < schedule.turns.size(); ++i)
        text += fmt::format("{}{}", i % turns_per_line == 0 ? "\nturns " : " ", schedule.turns[i]);
    text += '\n';
    text += last_line(text);
    const auto bytes = std::as_bytes(std::span(text));
    if (replaces) return h5::replace_file(path, bytes);
    REQUIRE(h5::create_file(path, bytes), "--record-schedule '{}' exists; give another name",
            path.string());
}

Schedule gather_schedule(Cluster& cluster, const std::string& protocol, const std::string& length,
                         std::int64_t steps, std::span<const std::int64_t> turns, int root) {
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
    schedule.length = length;
    std::ranges::sort(order);
    for (const auto& [turn, rank] : order) schedule.turns.push_back(rank);
    return schedule;
}

}  // namespace wasp
