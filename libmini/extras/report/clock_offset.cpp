#include "libmini/extras/report/clock_offset.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::report {
namespace {

constexpr int kRoundTrips = 8;
constexpr size_t kIdBytes = 64;
constexpr uint64_t kTag = 0x636c6f636b;  // "clock"

int64_t error_of(const RoundTrip& trip) {
    return ((trip.t3 - trip.t0) - (trip.t2 - trip.t1) + 1) / 2;
}

// Returns the identifiers of all ranks' clocks.
std::vector<std::vector<uint8_t>> all_ids(dist::ProcessGroup& group,
                                          const std::string& id) {
    std::vector<uint8_t> mine(id.begin(), id.end());
    mine.resize(kIdBytes);
    return dist::all_gather_values(group, mine);
}

// Answers one round trip of `peer` with the two times of rank 0.
void answer(dist::ProcessGroup& group, const Clock& clock, int peer) {
    group.recv(cpu_tensor(std::vector<int64_t>{0, 0}), peer, kTag);
    const int64_t received = clock.now();
    group.send(cpu_tensor(std::vector<int64_t>{received, clock.now()}), peer, kTag);
}

RoundTrip ask_rank_0(dist::ProcessGroup& group, const Clock& clock) {
    RoundTrip trip{.t0 = clock.now()};
    group.send(cpu_tensor(std::vector<int64_t>{0, 0}), 0, kTag);
    const Tensor times = cpu_tensor(std::vector<int64_t>{0, 0});
    group.recv(times, 0, kTag);
    trip.t3 = clock.now();
    trip.t1 = times.to_vector<int64_t>()[0];
    trip.t2 = times.to_vector<int64_t>()[1];
    return trip;
}

}  // namespace

ClockOffset offset_of(const std::vector<RoundTrip>& round_trips) {
    const RoundTrip& best = *std::ranges::min_element(round_trips, {}, error_of);
    return {.offset = ((best.t1 - best.t0) + (best.t2 - best.t3)) / 2,
            .error = error_of(best)};
}

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
    MINI_CHECK(clock.id.size() <= kIdBytes, "clock: the id ", clock.id, " is too long");
    const auto ids = all_ids(group, clock.id);
    ClockOffset mine;
    for (int rank = 1; rank < group.world_size(); ++rank) {
        if (ids[static_cast<size_t>(rank)] == ids[0]) continue;
        std::vector<RoundTrip> trips;
        for (int i = 0; i < kRoundTrips; ++i) {
            if (group.rank() == 0) answer(group, clock, rank);
            if (group.rank() == rank) trips.push_back(ask_rank_0(group, clock));
        }
        if (group.rank() == rank) mine = offset_of(trips);
    }
    return mine;
}

}  // namespace mini::report
