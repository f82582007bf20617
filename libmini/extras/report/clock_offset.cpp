#include "libmini/extras/report/clock_offset.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <limits>
#include <vector>

#include "libmini/distributed/group/gather.hpp"

namespace mini::report {
namespace {

constexpr size_t kBarriers = 8;
constexpr size_t kIdBytes = 64;

}  // namespace

Clock machine_clock() {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, id);
    if (id.empty()) {  // not Linux
        std::array<char, kIdBytes> host{};
        if (::gethostname(host.data(), host.size() - 1) == 0) id = host.data();
    }
    return {.id = id, .now = [] {
                const auto now = std::chrono::steady_clock::now().time_since_epoch();
                return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
            }};
}

ClockOffset measure_offset(dist::ProcessGroup& group, const Clock& clock) {
    std::vector<uint8_t> id(clock.id.begin(), clock.id.end());
    id.resize(kIdBytes);
    const auto ids = dist::all_gather_values(group, id);
    if (std::ranges::count(ids, ids[0]) == group.world_size()) return {};

    std::vector<int64_t> times;  // of entering and leaving each barrier
    for (size_t i = 0; i < kBarriers; ++i) {
        times.push_back(clock.now());
        group.barrier();
        times.push_back(clock.now());
    }
    const std::vector<int64_t> of_0 = dist::all_gather_values(group, times).front();
    if (id == ids[0]) return {};
    int64_t low = std::numeric_limits<int64_t>::min(), high = -(low + 1);
    for (size_t i = 0; i < times.size(); i += 2) {
        low = std::max(low, of_0[i] - times[i + 1]);
        high = std::min(high, of_0[i + 1] - times[i]);
    }
    return {.offset = low + (high - low) / 2, .error = (high - low + 1) / 2};
}

}  // namespace mini::report
