// Finds which rank is the cause when a wait has reached its deadline. A rank that fails tells
// the others why, and a rank that waits for long tells them for which rank.
//
//     rank 2 waited for rank 1; rank 1 waited for rank 0; rank 0 is silent

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "libmini/distributed/net/failure.hpp"

namespace mini::dist {

/// What a rank has told this rank.
struct Told {
    std::optional<Failure> report = {};  // why it has left
    bool is_gone = false;                // its connection closed, without a report
    int waits_for = -1;                  // its last notice; -1: it has sent none
};

/// Returns the failure to throw on rank `rank` of `world_size`, which has waited for rank
/// `silent`. It names the end of the chain of ranks that wait for each other. The chain
/// goes from a rank that reports a kTimeout to the rank of the report ("; rank 1 waited for
/// rank 2" is added to `description`); without a report, to waits_for ("; rank 1 waits for
/// rank 2"). told(r) returns what rank r has told; it is called for the ranks of the chain
/// only, each once, and never for `rank`. The chain ends at:
///
/// - a rank that is gone: a kPeerLost with this rank, "rank 3 is gone (<description>)";
/// - a report of another kind than kTimeout, or one that names no rank (below 0):
///   reported();
/// - a rank that has told nothing, that names a rank which does not exist, or whose notice
///   says that it waits for `rank` (the notice is old: `rank` is in the collective): a
///   kTimeout with the rank that ends the chain,
///   "<description>; rank 3 is silent: is its process stopped, stuck, or in other code?";
/// - a rank that is in the chain already, as `rank` is: a kTimeout with rank -1,
///   "<description>: these ranks wait for each other", and a question.
Failure blame(int rank, int world_size, int silent, std::string description,
              const std::function<Told(int rank)>& told);

}  // namespace mini::dist
