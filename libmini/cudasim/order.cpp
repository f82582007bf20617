#include "libmini/cudasim/order.hpp"

#include <algorithm>
#include <atomic>

namespace mini::sim {
namespace {

std::atomic<Observer*> watching = nullptr;

}  // namespace

void join(Clock& clock, const Clock& other) {
    if (clock.size() < other.size()) clock.resize(other.size());
    for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

Observer* observer() { return watching.load(std::memory_order_acquire); }

void set_observer(Observer* observer) {
    watching.store(observer, std::memory_order_release);
}

}  // namespace mini::sim
