#include "libmini/extras/cudasim/observer.hpp"

#include <atomic>

namespace mini::sim {
namespace {

std::atomic<Observer*> watching = nullptr;

}  // namespace

Observer* observer() { return watching.load(std::memory_order_acquire); }

void set_observer(Observer* observer) {
    watching.store(observer, std::memory_order_release);
}

}  // namespace mini::sim
