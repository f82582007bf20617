// The time source of simulated ranks: the library's clock and waits, in virtual time.
//
//     Clock::now()      the scheduler's time
//     sleep_for()       an event that wakes the task
//     yield(), pause()  a short sleep that anything which wakes the task ends
//     poll_until()      asks simulated descriptors, and waits until one of them is ready
//     wait_on()         waits until a task of the process calls notify_all()
//     start_thread()    adds a task to the process

#pragma once

#include <poll.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "libmini/distributed/net/time_source.hpp"
#include "libmini/distributed/simulation/scheduler.hpp"

namespace mini::dist {

/// What poll() can watch in a simulation. A change that may make it ready wakes its task.
class SimulatedDescriptor {
  public:
    /// Which of `events` are there, and those that poll(2) always reports.
    virtual short ready(short events) const = 0;

    virtual ~SimulatedDescriptor() = default;
};

/// REQUIRES of all that blocks: called by a task of the scheduler.
class SimulatedTime final : public TimeSource {
  public:
    explicit SimulatedTime(Scheduler& scheduler) : scheduler_(scheduler) {}

    Moment now() noexcept override;
    void sleep_until(Moment moment) override;
    void yield() override;

    /// Descriptors that are not simulated are never ready. Each hundredth call takes a
    /// microsecond, so that a loop that never waits passes its deadline.
    int poll(std::span<pollfd> entries, Moment deadline) override;

    void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
              Moment deadline) override;
    void notify_all(std::condition_variable& changed) noexcept override;
    std::unique_ptr<Thread> start_thread(std::function<void()> body) override;

    /// Gives a descriptor a number for poll(), and takes it back.
    int add(const SimulatedDescriptor& descriptor);
    void remove(int fd) { descriptors_.erase(fd); }

  private:
    static VirtualTime virtual_time(Moment moment);
    int count_ready(std::span<pollfd> entries) const;
    void wait_until(VirtualTime end);

    Scheduler& scheduler_;
    std::map<int, const SimulatedDescriptor*> descriptors_;
    std::multimap<const std::condition_variable*, int> sleepers_;  // tasks
    int busy_polls_ = 0;     // since the last one that has waited
    int next_fd_ = 1 << 24;  // beyond those of the kernel
};

}  // namespace mini::dist
