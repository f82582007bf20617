// A second pair of hands for a backend whose library blocks.

#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace mini::dist {

/// A thread that does one thing at a time, for somebody who has other things to do as well.
class Worker {
  public:
    Worker() : thread_([this] { run(); }) {}
    ~Worker() {
        start(nullptr);
        thread_.join();
    }

    /// REQUIRES: the job before is done.
    void start(std::function<void()> job) {
        const std::lock_guard lock(mutex_);
        job_ = std::move(job);
        has_job_ = true;
        changed_.notify_all();
    }

    /// Whether it is done, after `moment` at the latest.
    bool is_done_within(std::chrono::milliseconds moment) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, moment, [this] { return !has_job_; });
    }

    /// Throws what the job threw. REQUIRES: it is done.
    void rethrow() {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return has_job_; });
            if (!job_) return;
            lock.unlock();
            try {
                job_();
            } catch (...) {
                failure_ = std::current_exception();
            }
            lock.lock();
            has_job_ = false;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> job_;
    bool has_job_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace mini::dist
