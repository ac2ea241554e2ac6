#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "cluster/cluster.hpp"
#include "cluster/ending.hpp"

namespace wasp {

namespace {

// What one rank tells the others about its part of collectively(): the exit code, then the message.
std::vector<std::byte> pack(const Error& error) {
    const std::string message = error.what();
    std::vector<std::byte> bytes(1 + message.size());
    bytes[0] = static_cast<std::byte>(error.code());
    std::memcpy(bytes.data() + 1, message.data(), message.size());
    return bytes;
}

std::vector<std::byte> outcome_of(const std::function<void()>& work) {
    const auto failure = failure_of(work);
    return failure ? pack(*failure) : std::vector<std::byte>();
}

[[noreturn]] void throw_stalled(Cluster& cluster, const std::string& whom) {
    if (cluster.is_virtual())
        throw Error(ExitCode::fault,
                    fmt::format("nobody can go on: rank {} waits for {}", cluster.rank(), whom));
    const double limit = cluster.stall_seconds();
    const std::string report = cluster.heartbeats().report(limit, false);
    throw Error(ExitCode::fault, fmt::format("waited {:.3g} s for {}{}{}", limit, whom,
                                             report.empty() ? "" : "; ", report));
}

}  // namespace

void Window::get_all(std::span<const Source> sources) {
    for (const auto& source : sources) get(source.rank, source.offset, source.out);
}

void Window::add_all(float scale, std::span<const Target> targets) {
    for (const auto& target : targets) add(target.rank, target.offset, scale, target.in);
}

void Cluster::linger(double seconds) {
    const double start = this->seconds();
    double passed = 0;
    while (passed < seconds) {
        heartbeats().get_on();
        poll();
        check_alive();
        yield(passed);
        passed = this->seconds() - start;
    }
}

void wait_until(Cluster& cluster, const std::function<bool()>& done,
                const std::function<std::string()>& whom, const Progress& progress) {
    if (done()) return;
    const bool can_stall = progress && !cluster.is_virtual();  // there nobody is merely slow
    std::int64_t last_progress = can_stall ? progress() : 0;
    const auto they_got_on = [&] {
        const std::int64_t before = last_progress;
        if (can_stall) last_progress = progress();
        return last_progress != before;
    };
    // A rank that was suspended, with its job or by a debugger, comes back to a late clock: no
    // single turn counts for more than this.
    constexpr double longest_turn = 1.0;
    constexpr double worth_telling = 0.05;  // seconds; most waits are over before
    Heartbeats& heartbeats = cluster.heartbeats();
    Heartbeats::Waiting waiting(heartbeats);
    Heartbeats::Positions positions;
    double waited = 0;
    double last = cluster.seconds();
    do {
        heartbeats.beat();
        cluster.poll();
        cluster.check_alive();
        const double limit = cluster.stall_seconds();
        if (!waiting.told() && waited > std::min(worth_telling, limit / 2)) waiting.tell(whom());
        if (positions.empty() && waited > limit / 2) positions = heartbeats.positions();
        if (waited > limit &&
            (they_got_on() || heartbeats.anyone_got_on(positions) || heartbeats.any_traced())) {
            waited = 0;
            positions.clear();
        }
        if (waited > limit) throw_stalled(cluster, whom());
        cluster.yield(waited);
        const double now = cluster.seconds();
        waited += std::min(now - last, longest_turn);
        last = now;
    } while (!done());
}

void collectively(Cluster& cluster, const std::function<void()>& work) {
    constexpr int judge = 0;
    const auto mine = outcome_of(work);
    double failures = mine.empty() ? 0 : 1;
    cluster.sum(std::span(&failures, 1));
    if (failures == 0) return;
    const auto outcomes = cluster.gather(mine, judge);
    std::vector<std::byte> worst;
    for (const auto& outcome : outcomes)
        if (worst.empty()) worst = outcome;
    broadcast_list(cluster, worst, judge);
    const auto code = static_cast<ExitCode>(worst[0]);
    throw SharedError(
        code, std::string(reinterpret_cast<const char*>(worst.data() + 1), worst.size() - 1));
}

}  // namespace wasp
