#include "libmini/distributed/transport/blame.hpp"

#include <set>

#include "libmini/core/error.hpp"

// [lab17 file]
namespace mini::dist {

Failure blame(int rank, int world_size, int silent, std::string description,
              const std::function<Told(int rank)>& told) {
    std::set<int> chain = {rank};
    // [lab17.1] Follow the chain from `silent` on.
    while (chain.insert(silent).second) {
        const auto [report, is_gone, waits_for] = told(silent);
        if (is_gone)
            return {Failure::Kind::kPeerLost, silent,
                    concat("rank ", silent, " is gone (", description, ")")};
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            return reported(*report, silent);
        const int next = report ? report->rank : waits_for;
        if (next < 0 || next >= world_size || (!report && next == rank))
            return {
                Failure::Kind::kTimeout, silent,
                concat(description, "; rank ", silent,
                       " is silent: is its process stopped, stuck, or in other code?")};
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }
    // [lab17.1]
    return {Failure::Kind::kTimeout, -1,
            concat(description,
                   ": these ranks wait for each other. Was the process of one of them "
                   "stopped, does a connection hang, or is the program deadlocked?")};
}

}  // namespace mini::dist
// [lab17 file]
