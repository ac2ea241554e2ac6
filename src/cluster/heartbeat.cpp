#include "cluster/heartbeat.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "neighbours.hpp"

namespace wasp {

namespace {

constexpr std::uint64_t traced_bit = 1U << 8U;  // of the word with the phase
constexpr std::uint64_t phase_bits = traced_bit - 1;
constexpr double far_allowance = 1.25;  // what is far is known later, and those near it know more

bool has_tracer(const std::string& process) {
    std::ifstream status("/proc/" + process + "/status");
    constexpr std::string_view key = "TracerPid:\t";
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(key)) return line.substr(key.size()) != "0";
    return false;
}

std::string ranks_text(const std::vector<std::size_t>& ranks) {
    constexpr std::size_t most = 8;
    const std::vector<std::size_t> shown(
        ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), most)));
    return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(shown, ", "),
                       ranks.size() > most ? fmt::format(" and {} more", ranks.size() - most) : "");
}

}  // namespace

Heartbeats::Heartbeats() : own_(1), records_(own_), who_(1), me_(0) {}

Heartbeats::Heartbeats(std::span<HeartbeatRecord> records, std::vector<Who> who, int me)
    : records_(records),
      who_(std::move(who)),
      me_(static_cast<std::size_t>(me)),
      last_pulse_(records.size()),
      silence_(records.size()) {}

std::uint64_t Heartbeats::read(std::size_t rank, Word word) const {
    return records_[rank].word[word].load(std::memory_order_relaxed);
}

/// Only this rank writes its record.
void Heartbeats::grow(Word word) noexcept {
    auto& count = records_[me_].word[word];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Heartbeats::beat() noexcept {
    grow(pulse);
}

void Heartbeats::get_on() noexcept {
    grow(progress);
    grow(pulse);
}

void Heartbeats::enter(Phase phase) noexcept {
    auto& word = records_[me_].word[state];
    word.store(
        (word.load(std::memory_order_relaxed) & traced_bit) | static_cast<std::uint64_t>(phase),
        std::memory_order_relaxed);
    get_on();
}

void Heartbeats::start_step(std::int64_t number) noexcept {
    records_[me_].word[step].store(static_cast<std::uint64_t>(number), std::memory_order_relaxed);
    enter(Phase::computes);
}

Phase Heartbeats::phase() const noexcept {
    return phase_of(me_);
}

Phase Heartbeats::phase_of(std::size_t rank) const {
    return static_cast<Phase>(read(rank, state) & phase_bits);
}

void Heartbeats::set_waits_for(std::string_view whom) noexcept {
    for (std::size_t i = 0; i < text_words; ++i) {
        std::uint64_t part = 0;
        const std::size_t at = std::min(i * sizeof part, whom.size());
        std::memcpy(&part, whom.data() + at, std::min(sizeof part, whom.size() - at));
        records_[me_].word[text + i].store(part, std::memory_order_relaxed);
    }
    beat();
}

std::string Heartbeats::waits_for(std::size_t rank) const {
    std::string whom;
    for (std::size_t i = 0; i < text_words; ++i) {
        const std::uint64_t part = records_[rank].word[text + i].load(std::memory_order_relaxed);
        std::array<char, sizeof part> letters{};
        std::memcpy(letters.data(), &part, sizeof part);
        whom.append(letters.data(), letters.size());
    }
    const bool cut = !whom.ends_with('\0');
    whom.resize(std::min(whom.find('\0'), whom.size()));
    return cut ? whom + "…" : whom;
}

Heartbeats::Waiting::~Waiting() {
    if (told_) heartbeats_.set_waits_for(before_);
}

void Heartbeats::Waiting::tell(std::string_view whom) {
    if (!told_) before_ = heartbeats_.waits_for(heartbeats_.me_);
    told_ = true;
    heartbeats_.set_waits_for(whom);
}

Heartbeats::Positions Heartbeats::positions() const {
    Positions all(records_.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        all[rank] = {read(rank, step), read(rank, progress)};
    return all;
}

bool Heartbeats::anyone_got_on(const Positions& before) const {
    const Positions now = positions();
    for (std::size_t rank = 0; rank < now.size(); ++rank)
        if (rank != me_ && now[rank][0] == before[rank][0] && now[rank][1] != before[rank][1])
            return true;
    return false;
}

double Heartbeats::period(double limit) {
    constexpr double looks = 16, shortest = 0.02, longest = 5;
    return std::clamp(limit / looks, shortest, longest);
}

double Heartbeats::limit_of(std::size_t rank, double limit) const {
    return who_[rank].near ? limit : far_allowance * limit;
}

bool Heartbeats::is_watched(std::size_t rank, bool with_ended) const {
    const Phase phase = phase_of(rank);
    return rank != me_ && phase != Phase::starts && (with_ended || phase != Phase::ended);
}

// A rank that was suspended with its job comes back to a late clock: no look counts for more than a
// part of the limit, so that the others have time to come back, too.
void Heartbeats::check(double seconds, double limit, bool with_ended) {
    if (seconds < last_look_ + period(limit)) return;
    constexpr double most = 0.25;
    const double passed = std::min(seconds - last_look_, most * limit);
    last_look_ = seconds;
    auto& mine = records_[me_].word[state];
    const std::uint64_t traced = has_tracer("self") ? traced_bit : 0;
    mine.store((mine.load(std::memory_order_relaxed) & phase_bits) | traced,
               std::memory_order_relaxed);
    for (std::size_t rank = 0; rank < records_.size(); ++rank) {
        const std::uint64_t now = read(rank, pulse);
        const bool gave_a_sign = now != last_pulse_[rank];
        last_pulse_[rank] = now;
        silence_[rank] = gave_a_sign || !is_watched(rank, with_ended) ? 0 : silence_[rank] + passed;
    }
    if (!anyone_silent(limit)) return;
    if (any_traced()) {
        std::ranges::fill(silence_, 0.0);
        return;
    }
    throw Error(ExitCode::fault, report(limit, true) + ": look there, or raise --stall-timeout");
}

bool Heartbeats::anyone_silent(double limit) const {
    for (std::size_t rank = 0; rank < silence_.size(); ++rank)
        if (silence_[rank] >= limit_of(rank, limit)) return true;
    return false;
}

bool Heartbeats::is_lost(int rank, double limit) const {
    const auto index = static_cast<std::size_t>(rank);
    if (index >= silence_.size()) return false;
    if (silence_[index] > limit / 2) return true;
    return who_[index].near && !process_runs(who_[index].process);
}

bool Heartbeats::is_traced(std::size_t rank) const {
    if ((read(rank, state) & traced_bit) != 0) return true;
    return who_[rank].near && who_[rank].process > 0 &&
           has_tracer(std::to_string(who_[rank].process));
}

bool Heartbeats::any_traced() const {
    for (std::size_t rank = 0; rank < records_.size(); ++rank)
        if (is_traced(rank)) return true;
    return false;
}

std::string Heartbeats::activity(std::size_t rank) const {
    const auto number = static_cast<std::int64_t>(read(rank, step));
    if (const auto whom = waits_for(rank); !whom.empty())
        return fmt::format("waiting at step {} for {}", number, whom);
    switch (phase_of(rank)) {
        case Phase::starts:
            return "starting";
        case Phase::computes:
            return fmt::format("computing step {}", number);
        case Phase::exchanges:
            return fmt::format("exchanging step {}", number);
        case Phase::evaluates:
            return fmt::format("evaluating at step {}", number);
        case Phase::writes:
            return fmt::format("writing a file at step {}", number);
        case Phase::ended:
            break;
    }
    return "ended";
}

std::string Heartbeats::report(double limit, bool with_me) const {
    constexpr std::size_t most = 4;
    std::vector<std::string> parts;
    std::map<std::string, std::vector<std::size_t>> ranks_at;
    for (std::size_t rank = 0; rank < silence_.size(); ++rank) {
        if (phase_of(rank) == Phase::starts || (rank == me_ && !with_me)) continue;
        if (silence_[rank] > limit / 2 && parts.size() < most)
            parts.push_back(fmt::format(
                "rank {} (process {} on {}), {}, has given no sign of life for {:.3g} s", rank,
                who_[rank].process, who_[rank].host, activity(rank), silence_[rank]));
        else
            ranks_at[activity(rank)].push_back(rank);
    }
    for (const auto& [activity, ranks] : ranks_at)
        if (parts.size() < 2 * most) parts.push_back(ranks_text(ranks) + ": " + activity);
    return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace wasp
