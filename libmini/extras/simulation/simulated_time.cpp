// The half of SimulatedSystem that waits: the library's clock and waits, in virtual time.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "libmini/extras/simulation/simulated_system.hpp"

namespace mini::dist {
namespace {

using std::chrono::nanoseconds;

// The time on the clock when a simulation begins: not 0, as on a real machine.
constexpr nanoseconds kStart = std::chrono::hours(1);

// The length of a yield. A wait yields some hundred times before it sleeps: in total
// about as long as waking a sleeping thread takes.
constexpr VirtualTime kYieldTime = std::chrono::microseconds(1);

// Longer than any timeout of a simulation; VirtualTime overflows after 106 days.
constexpr VirtualTime kForever = std::chrono::hours(24 * 30);

// After this many polls in a row that did not block, a poll yields.
constexpr int kBusyPolls = 100;

}  // namespace

System::Moment SimulatedSystem::now() noexcept {
    return Moment(kStart + std::chrono::duration_cast<nanoseconds>(scheduler_.now()));
}

VirtualTime SimulatedSystem::virtual_time(Moment moment) {
    const nanoseconds time = moment.time_since_epoch() - kStart;
    // Compare in nanoseconds: kNever would overflow in picoseconds.
    if (time > std::chrono::duration_cast<nanoseconds>(kForever)) return kForever;
    return std::chrono::duration_cast<VirtualTime>(time);
}

// Blocks until the task is woken or virtual time `end`. Returns at once if `end` has
// passed.
void SimulatedSystem::wait_until(VirtualTime end) {
    if (end <= scheduler_.now()) return;
    if (end < kForever) scheduler_.wake_at(end, scheduler_.current());
    scheduler_.wait();
}

void SimulatedSystem::sleep_until(Moment moment) {
    const VirtualTime end = virtual_time(moment);
    while (scheduler_.now() < end) wait_until(end);
}

void SimulatedSystem::yield() { wait_until(scheduler_.now() + kYieldTime); }

int SimulatedSystem::count_ready(std::span<pollfd> entries) const {
    int count = 0;
    for (pollfd& entry : entries) {
        const auto found = files_.find(entry.fd);
        entry.revents =
            found == files_.end() ? short{0} : found->second->ready(entry.events);
        count += entry.revents != 0;
    }
    return count;
}

int SimulatedSystem::poll(std::span<pollfd> entries, Moment deadline) {
    const VirtualTime end = virtual_time(deadline);
    if (++busy_polls_ % kBusyPolls == 0) yield();
    while (true) {
        const int count = count_ready(entries);
        if (count > 0 || end <= scheduler_.now()) return count;
        busy_polls_ = 0;
        wait_until(end);
    }
}

void SimulatedSystem::wait(std::condition_variable& changed,
                           std::unique_lock<std::mutex>& lock, Moment deadline) {
    lock.unlock();
    const auto place = sleepers_.emplace(&changed, scheduler_.current());
    // Erase the entry even if the wait throws because the task is unwound.
    const auto forget = [this](auto* entry) { sleepers_.erase(*entry); };
    const std::unique_ptr<const decltype(place), decltype(forget)> entry(&place, forget);
    wait_until(virtual_time(deadline));
    lock.lock();
}

void SimulatedSystem::notify_all(std::condition_variable& changed) noexcept {
    const auto [first, last] = sleepers_.equal_range(&changed);
    for (auto sleeper = first; sleeper != last; ++sleeper)
        scheduler_.wake(sleeper->second);
}

std::function<void()> SimulatedSystem::start_thread(std::function<void()> body) {
    const auto is_done = std::make_shared<bool>(false);
    const int process = scheduler_.process();
    scheduler_.add_thread([this, body = std::move(body), is_done, process] {
        body();
        *is_done = true;
        scheduler_.wake_process(process);
    });
    return [this, is_done] {
        while (!*is_done) scheduler_.wait();
    };
}

}  // namespace mini::dist
