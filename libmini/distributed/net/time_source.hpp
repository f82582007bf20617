// TimeSource: gives the time, starts threads, and carries out all their waits. A test or
// a simulation can replace the machine's TimeSource.

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

    /// Blocks until the thread has returned. REQUIRES: called once, before the
    /// destructor.
    virtual void join() = 0;
};

/// The functions listed in clock.hpp call the TimeSource in use. Thread-safe.
class TimeSource {
  public:
    /// The time_point of Clock and of std::chrono::steady_clock.
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

    /// Starts a thread that calls `body`. Throws Error, with advice, if the system cannot
    /// start a thread.
    virtual std::unique_ptr<Thread> start_thread(std::function<void()> body);

  protected:
    // Not virtual: MachineTime (time_source.cpp) must be trivially destructible, because
    // threads that outlive main() may still call it.
    ~TimeSource() = default;
};

/// Returns the TimeSource in use: the machine's, unless a TimeSourceGuard replaces it.
TimeSource& time_source() noexcept;

/// Replaces the machine's TimeSource by `source` for the lifetime of the guard. REQUIRES:
/// no thread runs a function of clock.hpp while the guard is constructed or destroyed;
/// only one guard exists at a time.
class TimeSourceGuard {
  public:
    explicit TimeSourceGuard(TimeSource& source);
    ~TimeSourceGuard();
    TimeSourceGuard(const TimeSourceGuard&) = delete;
    TimeSourceGuard& operator=(const TimeSourceGuard&) = delete;
};

/// Returns the timeout for ppoll(): the time from `now` to `deadline`, at most 1000 s; 0
/// if the deadline has passed.
timespec time_left(TimeSource::Moment deadline, TimeSource::Moment now);

}  // namespace mini::dist
