// The source of the time, of threads, and of all their waits: the system, unless a test or
// a simulation replaces it.

#pragma once

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace mini::dist {

/// A thread that a time source has started.
class Thread {
  public:
    virtual ~Thread() = default;

    /// Blocks until the thread has returned. REQUIRES: called once, before the destructor.
    virtual void join() = 0;
};

/// The functions listed in clock.hpp call this. Thread-safe.
class TimeSource {
  public:
    /// A time_point of Clock, and of std::chrono::steady_clock.
    using Moment = std::chrono::steady_clock::time_point;

    /// Returns the current time; never blocks.
    virtual Moment now() noexcept = 0;

    /// Blocks until `moment`.
    virtual void sleep_until(Moment moment) = 0;

    /// Gives the core to other threads before this thread continues.
    virtual void yield() = 0;

    /// Blocks until one of `entries` has an event, `deadline` has passed or a signal
    /// arrives; may return earlier. Returns what poll(2) returns.
    virtual int poll(std::span<pollfd> entries, Moment deadline) = 0;

    /// Blocks until a thread has notified `changed` or `deadline` has passed; may return
    /// earlier. Releases the lock while it blocks.
    virtual void wait(std::condition_variable& changed,
                      std::unique_lock<std::mutex>& lock, Moment deadline) = 0;

    /// Wakes all threads that wait for `changed`.
    virtual void notify_all(std::condition_variable& changed) noexcept;

    /// Starts a thread. Throws Error, with advice, when the system cannot start one.
    virtual std::unique_ptr<Thread> start_thread(std::function<void()> body);

  protected:
    // Not virtual: the system's time source must be trivially destructible, because
    // threads that outlive main() may still call it.
    ~TimeSource() = default;
};

/// Returns the time source of the process.
TimeSource& time_source() noexcept;

/// Replaces the system's time source by `source` for the lifetime of the guard. REQUIRES:
/// no thread is in a function of clock.hpp when the guard is constructed or destroyed;
/// only one guard exists at a time.
class TimeSourceGuard {
  public:
    explicit TimeSourceGuard(TimeSource& source);
    ~TimeSourceGuard();
    TimeSourceGuard(const TimeSourceGuard&) = delete;
    TimeSourceGuard& operator=(const TimeSourceGuard&) = delete;
};

/// Returns the timeout for ppoll(): the time left in nanoseconds, at most 1000 s; 0 if
/// the deadline has passed.
timespec time_left(TimeSource::Moment deadline, TimeSource::Moment now);

}  // namespace mini::dist
