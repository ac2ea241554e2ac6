#include "sim_threads.hpp"

#include <algorithm>

#include "tensor/vector_ops.hpp"

namespace wasp {

SimThreads::SimThreads(int threads) {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

SimThreads::~SimThreads() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    more_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void SimThreads::serve() {
    use_threads(1);
    std::unique_lock lock(mutex_);
    for (;;) {
        more_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
        if (ends_) return;
        Job& job = *waiting_.front();
        waiting_.pop_front();
        job.state_ = Job::State::begun;
        lock.unlock();
        job.run();
        lock.lock();
        job.state_ = Job::State::done;
        done_.notify_all();
    }
}

/// If nobody has begun it; else returns when it is done.
bool SimThreads::take_back(Job& job) {
    std::unique_lock lock(mutex_);
    if (job.state_ == Job::State::waiting) {
        waiting_.erase(std::ranges::find(waiting_, &job));  // near the front
        job.state_ = Job::State::done;
        return true;
    }
    done_.wait(lock, [&] { return job.state_ == Job::State::done; });
    return false;
}

SimThreads::Job::Job(SimThreads& threads, const std::function<void()>& work)
    : threads_(threads), work_(work) {
    {
        const std::lock_guard lock(threads_.mutex_);
        threads_.waiting_.push_back(this);
    }
    threads_.more_.notify_one();
}

SimThreads::Job::~Job() {
    threads_.take_back(*this);
}

void SimThreads::Job::run() {
    try {
        work_();
    } catch (...) {
        error_ = std::current_exception();
    }
}

void SimThreads::Job::finish() {
    if (threads_.take_back(*this)) run();
    if (error_) std::rethrow_exception(error_);
}

}  // namespace wasp
