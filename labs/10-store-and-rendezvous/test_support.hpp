// Processes in virtual time, for the checks of lab 10.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/simulation/process_cluster.hpp"
#include "tests/support/contains.hpp"

namespace mini::labs {

/// Returns "returned", "threw: ..." or "waits forever".
inline std::string end_text(const dist::ProcessEnd& end) {
    if (end.failure) return concat("threw: ", end.failure->message);
    return end.how == dist::ProcessEnd::How::kReturned ? "returned" : "waits forever";
}

/// Runs `body` in every process. Throws NotImplemented if one met a task that is not started.
inline std::vector<dist::ProcessEnd> run_processes(
    dist::ProcessCluster& cluster, const std::function<void(int process)>& body) {
    const std::vector<dist::ProcessEnd> ends = cluster.run(body);
    for (const dist::ProcessEnd& end : ends)
        if (end.failure && test::contains(end.failure->message, "] not started: "))
            throw NotImplemented(
                end.failure->message.substr(end.failure->message.find("[lab")));
    return ends;
}

}  // namespace mini::labs
