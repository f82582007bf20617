// The time of simulated ranks: the library's clock and waits, in virtual time.
//
//     Clock::now()      the scheduler's time
//     sleep_for()       an event that wakes the task
//     yield(), pause()  a short sleep, which ends early if the task is woken
//     poll_until()      waits until one of the simulated descriptors is ready
//     wait_on()         waits until a task of the process calls notify_all()
//     start_thread()    adds a task to the process

#pragma once

#include <poll.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "libmini/distributed/net/system.hpp"
#include "libmini/extras/simulation/scheduler.hpp"

namespace mini::dist {

/// A descriptor that SimulatedTime::poll() can watch. A change that may make the
/// descriptor ready wakes the tasks of its process.
class SimulatedDescriptor {
  public:
    /// Returns those of `events` that have occurred, like revents of poll(2), but never
    /// POLLERR or POLLHUP.
    virtual short ready(short events) const = 0;

    virtual ~SimulatedDescriptor() = default;
};

/// The half of SimulatedSystem that waits. REQUIRES: start_thread() and all functions
/// that block are called by a task of the scheduler.
class SimulatedTime : public System {
  public:
    explicit SimulatedTime(Scheduler& scheduler) : scheduler_(scheduler) {}

    Moment now() noexcept override;
    void sleep_until(Moment moment) override;
    void yield() override;

    /// Descriptors that are not simulated are never ready. Of calls in a row that do not
    /// block, every hundredth takes a microsecond of virtual time, so that a loop of them
    /// reaches its deadline.
    int poll(std::span<pollfd> entries, Moment deadline) override;

    void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
              Moment deadline) override;
    void notify_all(std::condition_variable& changed) noexcept override;
    std::function<void()> start_thread(std::function<void()> body) override;

  protected:
    /// Returns a new file descriptor number, by which poll() finds the descriptor.
    /// REQUIRES: `descriptor` lives until remove().
    int add(const SimulatedDescriptor& descriptor);
    /// Removes a descriptor; poll() then never reports it as ready.
    void remove(int fd) { descriptors_.erase(fd); }

    ~SimulatedTime() = default;

  private:
    static VirtualTime virtual_time(Moment moment);
    int count_ready(std::span<pollfd> entries) const;
    void wait_until(VirtualTime end);

    Scheduler& scheduler_;
    std::map<int, const SimulatedDescriptor*> descriptors_;
    std::multimap<const std::condition_variable*, int> sleepers_;  // waiting tasks
    int busy_polls_ = 0;     // since the last poll that blocked
    int next_fd_ = 1 << 24;  // above the kernel's numbers
};

}  // namespace mini::dist
