// A clock for tests: the system's time plus the time that the test has added. A deadline
// an hour away passes when the test advances the clock, and not because the machine is
// busy.

#pragma once

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/system.hpp"

namespace mini::dist::test {

/// While an object of this class exists, it is the clock of all threads of the
/// process. Waiting threads check the clock every millisecond of the system's time. The
/// destructor ends their waits here; a thread that still waits goes on by the machine's
/// time.
class ManualTime final : public System {
  public:
    Moment now() noexcept override {
        return std::chrono::steady_clock::now() + added_.load();
    }

    void advance(Clock::duration time) { added_ = added_.load() + time; }

    /// Blocks until a thread waits for a moment that is more than ahead / 2 and at most
    /// `ahead` from now.
    void until_awaited(Clock::duration ahead) {
        while (true) {
            {
                const std::lock_guard lock(mutex_);
                const auto next = awaited_.upper_bound(now() + ahead / 2);
                if (next != awaited_.end() && *next <= now() + ahead) return;
            }
            std::this_thread::sleep_for(kLook);
        }
    }

    void sleep_until(Moment moment) override {
        const Wait wait(*this, moment);
        while (now() < moment && !is_over_)
            std::this_thread::sleep_for(std::min<Clock::duration>(kLook, moment - now()));
    }

    void yield() override { ::sched_yield(); }

    int poll(std::span<pollfd> entries, Moment deadline) override {
        const Wait wait(*this, deadline);
        while (true) {
            const bool has_passed = now() >= deadline || is_over_;
            const int look = has_passed ? 0 : static_cast<int>(kLook.count());
            const int ready = ::poll(entries.data(), entries.size(), look);
            if (ready != 0 || has_passed) return ready;
        }
    }

    void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
              Moment deadline) override {
        const Wait wait(*this, deadline);
        changed.wait_for(lock, kLook);
    }

  private:
    static constexpr std::chrono::milliseconds kLook{1};

    bool has_waits() {
        const std::lock_guard lock(mutex_);
        return !awaited_.empty();
    }

    // Registers that a thread waits for a moment.
    class Wait {
      public:
        Wait(ManualTime& time, Moment moment) : time_(time) {
            const std::lock_guard lock(time_.mutex_);
            place_ = time_.awaited_.insert(moment);
        }
        ~Wait() {
            const std::lock_guard lock(time_.mutex_);
            time_.awaited_.erase(place_);
        }
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;

      private:
        ManualTime& time_;
        std::multiset<Moment>::iterator place_;
    };

    std::atomic<Clock::duration> added_ = Clock::duration::zero();
    std::mutex mutex_;
    std::multiset<Moment> awaited_;
    std::atomic<bool> is_over_ = false;

    // Destroyed after the guard and before what the waits use: a thread that a test does
    // not join, such as a detached Worker, may still be in one of them.
    struct LastWaits {
        ManualTime& time;
        ~LastWaits() {
            time.is_over_ = true;
            while (time.has_waits()) std::this_thread::sleep_for(kLook);
        }
    } last_waits_{*this};
    SystemGuard guard_{*this};
};

}  // namespace mini::dist::test
