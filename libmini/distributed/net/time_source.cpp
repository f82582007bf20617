#include "libmini/distributed/net/time_source.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <utility>

#include "libmini/core/thread.hpp"

namespace mini::dist {
namespace {

class MachineThread final : public Thread {
  public:
    explicit MachineThread(std::thread thread) : thread_(std::move(thread)) {}
    void join() override { thread_.join(); }

  private:
    std::thread thread_;
};

class MachineTime final : public TimeSource {
  public:
    Moment now() noexcept override { return std::chrono::steady_clock::now(); }

    void sleep_until(Moment moment) override { std::this_thread::sleep_until(moment); }

    void yield() override { ::sched_yield(); }

    int poll(std::span<pollfd> entries, Moment deadline) override {
        const timespec left = time_left(deadline, now());
        return ::ppoll(entries.data(), entries.size(), &left, nullptr);
    }

    void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
              Moment deadline) override {
        if (deadline == Moment::max()) return changed.wait(lock);
        changed.wait_until(lock, deadline);
    }
};

constinit MachineTime machine_time;
static_assert(std::is_trivially_destructible_v<MachineTime>);
constinit std::atomic<TimeSource*> source_in_use = &machine_time;

}  // namespace

void TimeSource::notify_all(std::condition_variable& changed) noexcept {
    changed.notify_all();
}

std::unique_ptr<Thread> TimeSource::start_thread(std::function<void()> body) {
    return std::make_unique<MachineThread>(mini::start_thread(std::move(body)));
}

TimeSource& time_source() noexcept {
    return *source_in_use.load(std::memory_order_acquire);
}

TimeSourceGuard::TimeSourceGuard(TimeSource& source) { source_in_use = &source; }

TimeSourceGuard::~TimeSourceGuard() { source_in_use = &machine_time; }

timespec time_left(TimeSource::Moment deadline, TimeSource::Moment now) {
    constexpr std::chrono::nanoseconds kNone(0), kLongest(std::chrono::seconds(1000));
    std::chrono::nanoseconds left = kNone;
    if (deadline > now)
        left = std::min<std::chrono::nanoseconds>(deadline - now, kLongest);
    constexpr int64_t kSecond = 1'000'000'000;
    timespec time{};
    time.tv_sec = left.count() / kSecond;
    time.tv_nsec = left.count() % kSecond;
    return time;
}

}  // namespace mini::dist
