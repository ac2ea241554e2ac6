/// The actors of a run in virtual time: their clock, and who waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim_costs.hpp"
#include "sim_threads.hpp"

namespace wasp {

class SimWorld {
public:
    explicit SimWorld(const SimOptions& options);
    SimWorld(const SimWorld&) = delete;
    SimWorld& operator=(const SimWorld&) = delete;
    ~SimWorld();

    /// Run work(rank) on each rank.   Error: the first that one of them throws.
    void run(const std::function<void(int rank)>& work);

    int size() const { return options_.ranks; }
    const SimOptions& options() const { return options_; }
    SimCosts& costs() { return costs_; }
    SimThreads& threads() { return threads_; }

    double now() const;  ///< seconds since the start

    // By the rank that runs.
    void sleep_until(double seconds);  ///< Error: another rank has failed
    /// Returns when another rank has called wake(); or at once, with is_stuck(), when there is no
    /// rank left that could.   Error: another rank has failed.
    void wait(int rank);
    void wake(int rank);
    bool is_waiting(int rank) const { return waits_[static_cast<std::size_t>(rank)]; }
    /// Nobody can go on.
    bool is_stuck() const { return stuck_; }
    void check_alive() const;

    /// Where all ranks meet. The last that comes does `work` for all; all go on `seconds` later.
    /// letter: of this rank, for `work`, which sees letters().
    void meet(int rank, void* letter, const std::function<double()>& work);
    std::span<void* const> letters() const { return letters_; }

private:
    struct Actors;

    void fail(std::exception_ptr failure);
    void end();
    bool all_others_wait() const { return waiting_ + 1 == alive_; }
    std::string missing() const;

    SimOptions options_;
    SimCosts costs_;
    SimThreads threads_;
    std::unique_ptr<Actors> actors_;
    std::vector<bool> waits_;
    int alive_ = 0, waiting_ = 0;
    bool stuck_ = false;
    std::exception_ptr failure_;

    std::vector<void*> letters_;
    std::vector<std::uint64_t> meetings_;  // that each rank has come to
    std::uint64_t over_ = 0;               // meetings that all have come to
    int here_ = 0;                         // ranks that have come to the next
    double parted_ = 0;                    // when all go on from the last
};

}  // namespace wasp
