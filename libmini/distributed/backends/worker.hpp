// A second pair of hands for a backend whose library blocks.

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

/// A thread that runs one job at a time, for a caller that must not block.
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

    /// REQUIRES: the job before is done, and the worker was not let go.
    void start(std::function<void()> job) { state_->put(std::move(job)); }

    /// Whether it is done, after `moment` at the latest.
    bool is_done_within(std::chrono::milliseconds moment) {
        return state_->is_empty_within(moment);
    }

    /// Throws what the job threw. REQUIRES: it is done.
    void rethrow() {
        if (state_->failure)
            std::rethrow_exception(std::exchange(state_->failure, nullptr));
    }

    /// Detaches the thread from a job that the library does not end; it is not waited
    /// for. REQUIRES: the job owns all that it uses.
    void let_go() { thread_.detach(); }

  private:
    // What both see: the job, until it is done. The thread owns it too.
    struct SharedState {
        void put(std::function<void()> next) {
            const std::lock_guard lock(mutex);
            job = std::move(next);
            has_job = true;
            changed.notify_all();
        }

        bool is_empty_within(std::chrono::milliseconds moment) {
            std::unique_lock lock(mutex);
            return wait_on(changed, lock, deadline_after(moment),
                           [this] { return !has_job; });
        }

        // Does what is put there, until that is nothing.
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
                changed.notify_all();
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
