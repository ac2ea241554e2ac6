/// What each rank is about, where the others can read it without its help: who stands still, and
/// what it was doing. A rank of the same node reads memory that the node shares, so that a process
/// that was suspended can be read, too; what ranks of other nodes do is known a moment later, and
/// as long as anyone on their node answers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.hpp"

namespace wasp {

/// What a rank is at. One that starts, or has ended, is not expected to give signs of life.
enum class Phase : std::uint8_t { starts, computes, exchanges, evaluates, writes, ended };

/// Of one rank; all zero at the start.
struct alignas(cache_line) HeartbeatRecord {
    static constexpr std::size_t words = 16;
    std::array<std::atomic<std::uint64_t>, words> word{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // processes share them

class Heartbeats {
public:
    struct Who {
        std::string host;
        int process = 0;
        bool near = true;  ///< on this node
    };

    /// Of a rank that nobody reads.
    Heartbeats();
    /// records, who: by rank; I am rank `me`. The records outlive this object.
    Heartbeats(std::span<HeartbeatRecord> records, std::vector<Who> who, int me);

    // About myself. Cheap: a store or two.
    void beat() noexcept;              ///< I am alive
    void get_on() noexcept;            ///< and something is done: a layer, a batch
    void enter(Phase phase) noexcept;  ///< and get on
    void start_step(std::int64_t step) noexcept;
    Phase phase() const noexcept;

    /// As long as the object lives, or the last of those inside one another.
    class Waiting {
    public:
        explicit Waiting(Heartbeats& heartbeats) : heartbeats_(heartbeats) {}
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;
        ~Waiting();
        void tell(std::string_view whom);  ///< others read its beginning
        bool told() const { return told_; }

    private:
        Heartbeats& heartbeats_;
        std::string before_;
        bool told_ = false;
    };

    /// How far each rank is.
    using Positions = std::vector<std::array<std::uint64_t, 2>>;
    Positions positions() const;
    /// Whether a rank that is still at the step it was at has got on with it.
    bool anyone_got_on(const Positions& before) const;

    /// Seconds until check() looks again; for who hands records on.
    static double period(double limit);
    /// Looks at the others, a few times in `limit`.   seconds: now; limit: seconds.
    /// with_ended: those that have ended give signs of life, too.
    /// Error: a rank has given none for `limit` (on another node, for a quarter more); says what it
    /// was doing, and what the others wait for.
    void check(double seconds, double limit, bool with_ended = false);

    /// Whether a rank had given no sign of life for half of `limit` when check() last looked, or
    /// its process, on this node, is gone.
    bool is_lost(int rank, double limit) const;

    /// Who has given no sign of life for half of `limit`, and what the others are at: "rank 1
    /// (process 7 on n3), computing step 4, has given …; ranks 0, 2: waiting at step 4 for …".
    /// Empty while all start.
    std::string report(double limit, bool with_me) const;

    /// Whether a debugger holds one of the ranks, which then is not to be missed.
    bool any_traced() const;

private:
    enum Word : std::size_t { pulse, progress, state, step, text };
    static constexpr std::size_t text_words = HeartbeatRecord::words - text;

    std::uint64_t read(std::size_t rank, Word word) const;
    Phase phase_of(std::size_t rank) const;
    bool is_watched(std::size_t rank, bool with_ended) const;
    bool is_traced(std::size_t rank) const;
    double limit_of(std::size_t rank, double limit) const;
    bool anyone_silent(double limit) const;
    std::string waits_for(std::size_t rank) const;
    void set_waits_for(std::string_view whom) noexcept;
    std::string activity(std::size_t rank) const;
    void grow(Word word) noexcept;

    std::vector<HeartbeatRecord> own_;  // where nobody reads them
    std::span<HeartbeatRecord> records_;
    std::vector<Who> who_;
    std::size_t me_;
    std::vector<std::uint64_t> last_pulse_;
    std::vector<double> silence_;  // seconds
    double last_look_ = 0;
};

/// A phase as long as the object lives; then the one before.
class PhaseScope {
public:
    PhaseScope(Heartbeats& heartbeats, Phase phase)
        : heartbeats_(heartbeats), before_(heartbeats.phase()) {
        heartbeats_.enter(phase);
    }
    PhaseScope(const PhaseScope&) = delete;
    PhaseScope& operator=(const PhaseScope&) = delete;
    ~PhaseScope() { heartbeats_.enter(before_); }

private:
    Heartbeats& heartbeats_;
    Phase before_;
};

}  // namespace wasp
