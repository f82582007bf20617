// Where the time comes from, and who makes a thread wait: the machine, unless a test, or a
// simulation, puts itself in its place.

#pragma once

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <span>

namespace mini::dist {

/// What the functions that clock.hpp lists ask. Any thread may call at any time.
class TimeSource {
  public:
    /// A time_point of Clock, and of std::chrono::steady_clock.
    using Moment = std::chrono::steady_clock::time_point;

    /// The present moment; never blocks.
    virtual Moment now() noexcept = 0;

    /// Blocks until `moment`.
    virtual void sleep_until(Moment moment) = 0;

    /// Lets other threads have the core before this one goes on.
    virtual void yield() = 0;

    /// Blocks until one of `entries` has an event, `deadline` has passed or a signal came,
    /// or for less. Returns what poll(2) does.
    virtual int poll(std::span<pollfd> entries, Moment deadline) = 0;

    /// Blocks until a thread has notified `changed` or `deadline` has passed, or for less;
    /// gives up the lock for that time.
    virtual void wait(std::condition_variable& changed,
                      std::unique_lock<std::mutex>& lock, Moment deadline) = 0;

  protected:
    // Not virtual: the machine's has nothing to destroy, and threads that outlive main() may
    // still ask it.
    ~TimeSource() = default;
};

/// The time source of the process.
TimeSource& time_source() noexcept;

/// Puts `source` in the place of the machine's for its lifetime. No thread may be in a
/// function of clock.hpp when that begins or ends; one at a time.
class TimeSourceGuard {
  public:
    explicit TimeSourceGuard(TimeSource& source);
    ~TimeSourceGuard();
    TimeSourceGuard(const TimeSourceGuard&) = delete;
    TimeSourceGuard& operator=(const TimeSourceGuard&) = delete;
};

/// What ppoll() is to be told: the time left to the nanosecond, 1000 s at most; 0 when the
/// deadline has passed.
timespec time_left(TimeSource::Moment deadline, TimeSource::Moment now);

}  // namespace mini::dist
