// A blocking call of a backend's library, on a thread of its own.

#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>

#include "libmini/core/thread.hpp"

namespace mini::dist {

/// Runs a function for a caller that must not block. The destructor waits for its end.
class BlockingCall {
  public:
    /// Starts `run`. Throws Error if the system cannot start a thread.
    explicit BlockingCall(std::function<void()> run) {
        std::packaged_task<void()> task(std::move(run));
        end_ = task.get_future();
        thread_ = start_thread(std::move(task));
    }
    ~BlockingCall() {
        if (thread_.joinable()) thread_.join();
    }
    BlockingCall(const BlockingCall&) = delete;
    BlockingCall& operator=(const BlockingCall&) = delete;

    /// Returns whether the function has ended; waits for it for `moment` at most.
    bool is_done_within(std::chrono::milliseconds moment) const {
        return end_.wait_for(moment) == std::future_status::ready;
    }

    /// Rethrows the exception of the function, if any. REQUIRES: it has ended.
    void rethrow() { end_.get(); }

    /// Detaches the thread, because the library does not end the call; the destructor then
    /// does not wait. REQUIRES: the function owns everything that it uses.
    void detach() { thread_.detach(); }

  private:
    std::future<void> end_;
    std::thread thread_;
};

}  // namespace mini::dist
