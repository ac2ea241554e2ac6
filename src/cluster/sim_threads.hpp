/// Host threads that compute what ranks want while virtual time passes: a job has the same result
/// whoever does it, and whenever, as nobody touches what it reads before it is finished.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace wasp {

class SimThreads {
public:
    /// threads: with the one that calls finish(), which does itself what nobody has begun.
    explicit SimThreads(int threads);
    SimThreads(const SimThreads&) = delete;
    SimThreads& operator=(const SimThreads&) = delete;
    ~SimThreads();

    /// Work that any thread may do from now on, each piece on one thread.
    class Job {
    public:
        Job(SimThreads& threads, const std::function<void()>& work);
        Job(const Job&) = delete;
        Job& operator=(const Job&) = delete;
        ~Job();  ///< work that nobody has begun is left undone

        /// Returns when it is done.   Error: what `work` threw.
        void finish();

    private:
        friend class SimThreads;
        enum class State { waiting, begun, done };

        void run();

        SimThreads& threads_;
        const std::function<void()>& work_;
        State state_ = State::waiting;
        std::exception_ptr error_;
    };

private:
    void serve();
    bool take_back(Job& job);

    std::mutex mutex_;
    std::condition_variable more_, done_;
    std::deque<Job*> waiting_;
    bool ends_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace wasp
