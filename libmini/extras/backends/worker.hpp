// Worker: a thread that runs the blocking calls of a backend's library.

#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "libmini/core/thread.hpp"
#include "libmini/distributed/net/wait_on.hpp"

namespace mini::dist {

/// Runs one job at a time on its own thread, for a caller that must not block. The
/// destructor waits for the job.
class Worker {
  public:
    Worker()
        : state_(std::make_shared<SharedState>()),
          thread_(start_thread([state = state_] { state->run(); })) {}
    ~Worker() {
        if (!thread_.joinable()) return;
        state_->put(nullptr);
        thread_.join();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Starts `job`. REQUIRES: the previous job is done, and detach() was not called.
    void start(std::function<void()> job) { state_->put(std::move(job)); }

    /// Returns whether the job is done; waits for the job for `moment` at most.
    bool is_done_within(std::chrono::milliseconds moment) {
        return state_->is_empty_within(moment);
    }

    /// Rethrows the exception of the job, if any. REQUIRES: the job is done.
    void rethrow() {
        if (state_->failure)
            std::rethrow_exception(std::exchange(state_->failure, nullptr));
    }

    /// Detaches the thread, because the library does not end the job; the destructor then
    /// does not wait. REQUIRES: the job owns everything that it uses.
    void detach() { thread_.detach(); }

  private:
    // The state that the Worker shares with its thread: the current job. Both own the
    // state, because a detached thread outlives the Worker.
    struct SharedState {
        void put(std::function<void()> next) {
            const std::lock_guard lock(mutex);
            job = std::move(next);
            has_job = true;
            notify_all(changed);
        }

        bool is_empty_within(std::chrono::milliseconds moment) {
            std::unique_lock lock(mutex);
            return wait_on(changed, lock, deadline_after(moment),
                           [this] { return !has_job; });
        }

        // Runs jobs until it receives an empty function.
        void run() {
            std::unique_lock lock(mutex);
            while (true) {
                wait_on(changed, lock, kNever, [this] { return has_job; });
                if (!job) return;
                lock.unlock();
                try {
                    job();
                } catch (...) {
                    failure = std::current_exception();
                }
                job = nullptr;
                lock.lock();
                has_job = false;
                notify_all(changed);
            }
        }

        std::mutex mutex;
        std::condition_variable changed;
        std::function<void()> job;
        bool has_job = false;
        std::exception_ptr failure;
    };

    std::shared_ptr<SharedState> state_;
    std::thread thread_;
};

}  // namespace mini::dist
