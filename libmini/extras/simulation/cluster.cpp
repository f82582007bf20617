#include "libmini/extras/simulation/cluster.hpp"

#include <algorithm>
#include <memory>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

// The maximum number of waiting ranks that an error lists.
constexpr size_t kMostListed = 8;

using Transports = std::vector<std::unique_ptr<SimulatedTransport>>;

[[noreturn]] void throw_deadlock(const std::vector<std::string>& waits, VirtualTime now,
                                 uint64_t seed) {
    std::string list;
    for (size_t i = 0; i < std::min(waits.size(), kMostListed); ++i)
        list += concat(i == 0 ? "" : ", ", waits[i]);
    if (waits.size() > kMostListed)
        list += concat(", and ", waits.size() - kMostListed, " more ranks wait");
    throw Error(concat("deadlock after ", static_cast<double>(now.count()) / 1e6,
                       " us of virtual time (seed ", seed, "): ", list));
}

}  // namespace

ClusterReport run_cluster(const ClusterOptions& options,
                          const std::function<void(SimulatedTransport&)>& body) {
    const int P = options.world_size;
    if (P < 1)
        throw UsageError(concat("the world size is ", P, "; it must be 1 or more"));
    Scheduler scheduler(options.seed);
    Network network(scheduler, options.links, P, options.has_payload);
    Ways ways(network, P);

    ClusterReport report;
    report.end.resize(static_cast<size_t>(P));
    std::vector<char> returned(static_cast<size_t>(P));
    Transports transports;
    for (int rank = 0; rank < P; ++rank) {
        transports.push_back(
            std::make_unique<SimulatedTransport>(scheduler, ways, rank, P));
        scheduler.add([&, rank] {
            const auto r = static_cast<size_t>(rank);
            body(*transports[r]);
            report.end[r] = scheduler.now();
            returned[r] = true;
        });
    }

    if (!scheduler.run()) {
        std::vector<std::string> waits;
        for (size_t r = 0; r < transports.size(); ++r)
            if (!returned[r]) waits.push_back(transports[r]->waits_for());
        scheduler.unwind();
        throw_deadlock(waits, scheduler.now(), options.seed);
    }
    report.time = *std::ranges::max_element(report.end);
    for (int rank = 0; rank < P; ++rank) report.sent.push_back(network.traffic(rank));
    report.messages_left = network.messages_left();
    return report;
}

}  // namespace mini::dist
