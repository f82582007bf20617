// Ranks as threads, for the checks of the labs.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "tests/support/catch.hpp"

namespace mini::labs {

/// Calls run_threads with a timeout of 10 s. If a rank ends while another rank waits for
/// it in a collective, adds the usual causes to the failure report.
inline void run_ranks(int world_size,
                      const std::function<void(dist::ProcessGroup& group)>& body) {
    try {
        dist::run_threads(world_size, body, {.timeout = std::chrono::seconds(10)});
    } catch (const PeerLost&) {
        INFO("a rank waited in a collective that another rank did not call; all ranks");
        INFO(
            "must call it: is it inside an if (rank == 0), or called once too often on "
            "one?");
        throw;
    }
}

/// Runs body(group) on every rank with run_ranks; returns the results, indexed by rank.
template <typename Body>
auto on_ranks(int world_size, const Body& body) {
    using Result = decltype(body(std::declval<dist::ProcessGroup&>()));
    std::vector<Result> results(static_cast<size_t>(world_size));
    run_ranks(world_size, [&](dist::ProcessGroup& group) {
        results[static_cast<size_t>(group.rank())] = body(group);
    });
    return results;
}

}  // namespace mini::labs
