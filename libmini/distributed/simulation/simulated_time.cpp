#include "libmini/distributed/simulation/simulated_time.hpp"

#include <algorithm>
#include <chrono>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

using std::chrono::nanoseconds;

// The machine has run for a while when a simulation begins, as real ones have.
constexpr nanoseconds kStart = std::chrono::hours(1);

// A wait first yields some hundred times: about as long as a sleep takes to end.
constexpr VirtualTime kYieldTime = std::chrono::microseconds(1);

// Longer than any deadline of a simulation, and far from overflowing.
constexpr VirtualTime kForever = std::chrono::hours(24 * 30);

}  // namespace

TimeSource::Moment SimulatedTime::now() noexcept {
    return Moment(kStart + std::chrono::duration_cast<nanoseconds>(scheduler_.now()));
}

VirtualTime SimulatedTime::virtual_time(Moment moment) {
    const nanoseconds time = moment.time_since_epoch() - kStart;
    if (time > kForever) return kForever;
    return std::chrono::duration_cast<VirtualTime>(time);
}

// Blocks until the task is woken, or virtual time `end`; not at all when that has passed.
void SimulatedTime::wait_until(VirtualTime end) {
    if (end <= scheduler_.now()) return;
    if (end < kForever) scheduler_.wake_at(end, scheduler_.current());
    scheduler_.wait();
}

void SimulatedTime::sleep_until(Moment moment) {
    const VirtualTime end = virtual_time(moment);
    while (scheduler_.now() < end) wait_until(end);
}

void SimulatedTime::yield() { wait_until(scheduler_.now() + kYieldTime); }

int SimulatedTime::count_ready(std::span<pollfd> entries) const {
    int count = 0;
    for (pollfd& entry : entries) {
        const auto found = descriptors_.find(entry.fd);
        entry.revents =
            found == descriptors_.end() ? short{0} : found->second->ready(entry.events);
        count += entry.revents != 0;
    }
    return count;
}

int SimulatedTime::poll(std::span<pollfd> entries, Moment deadline) {
    const VirtualTime end = virtual_time(deadline);
    while (true) {
        const int count = count_ready(entries);
        if (count > 0 || end <= scheduler_.now()) return count;
        wait_until(end);
    }
}

void SimulatedTime::wait(std::condition_variable& /*changed*/,
                         std::unique_lock<std::mutex>& /*lock*/, Moment /*deadline*/) {
    throw Error(
        "a simulated rank waits on a condition variable: it has one thread, which "
        "no other would wake");
}

int SimulatedTime::add(const SimulatedDescriptor& descriptor) {
    descriptors_[next_fd_] = &descriptor;
    return next_fd_++;
}

}  // namespace mini::dist
