#include "libmini/distributed/group/gpu_turn.hpp"

#include <map>
#include <mutex>
#include <set>

namespace mini::dist {
namespace {

struct Places {
    std::mutex mutex;
    std::map<int, std::set<uint64_t>> taken;  // by device
    uint64_t next = 0;
};

// Never destroyed: groups may outlive the end of main.
Places& places() {
    static auto* const all = new Places;
    return *all;
}

}  // namespace

GpuTurn::GpuTurn(int device) : device_(device) {
    const std::lock_guard lock(places().mutex);
    place_ = places().next++;
    places().taken[device].insert(place_);
}

GpuTurn::~GpuTurn() {
    const std::lock_guard lock(places().mutex);
    places().taken[device_].erase(place_);
}

bool GpuTurn::has_come() const {
    const std::lock_guard lock(places().mutex);
    return *places().taken[device_].begin() == place_;
}

}  // namespace mini::dist
