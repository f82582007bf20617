// How the processes of a simulated job end if a rank joins late or never.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini::dist {

constexpr std::chrono::milliseconds kPatience(4000);

/// Returns the message of the process's exception; "" if the process returned.
inline std::string message_of(const ProcessEnd& end) {
    return end.failure ? end.failure->message : "";
}

/// Checks that all processes except process `one` threw an error that contains `words`, at
/// the deadline.
inline void check_all_but(int one, const std::vector<ProcessEnd>& ends,
                          const std::string& words) {
    for (int rank = 0; rank < static_cast<int>(ends.size()); ++rank) {
        if (rank == one) continue;
        const ProcessEnd& end = ends[static_cast<size_t>(rank)];
        CAPTURE(rank, message_of(end));
        CHECK(test::contains(message_of(end), words));
        CHECK(end.time >= kPatience);
        CHECK(end.time < kPatience + std::chrono::seconds(5));
    }
}

}  // namespace mini::dist
