#include "libmini/extras/backends/nccl_collective.hpp"

#include <map>
#include <mutex>
#include <set>

namespace mini::dist {
namespace {

struct LaunchOrder {
    std::mutex mutex;
    std::map<int, std::set<uint64_t>> taken;  // by device
    uint64_t next = 0;
};

// Never destroyed: groups may outlive the end of main.
LaunchOrder& launch_order() {
    static auto* const all = new LaunchOrder;
    return *all;
}

}  // namespace

LaunchPosition::LaunchPosition(int device) : device_(device) {
    const std::lock_guard lock(launch_order().mutex);
    position_ = launch_order().next++;
    launch_order().taken[device].insert(position_);
}

LaunchPosition::~LaunchPosition() {
    const std::lock_guard lock(launch_order().mutex);
    launch_order().taken[device_].erase(position_);
}

bool LaunchPosition::has_come() const {
    const std::lock_guard lock(launch_order().mutex);
    return *launch_order().taken[device_].begin() == position_;
}

NcclCollective::NcclCollective(int device)
    : device_(device), events_(new Events{cuda::Event(device), cuda::Event(device)}) {
    events_->begin.record(cuda::current_stream(device));
}

void NcclCollective::wait_on_stream() const {
    const cuda::DeviceGuard guard(device_);
    events_->end.wait(cuda::current_stream(device_));
}

std::function<bool()> NcclCollective::when_begun() const {
    return [events = events_] { return events->begin.query(); };
}

}  // namespace mini::dist
