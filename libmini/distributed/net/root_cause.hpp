// Finds the rank whose failure caused the failures of the others, for a launcher: spawn()
// and minirun, which see how processes end.
//
// When a rank dies, its peers fail a moment later because it is gone. A dying process
// closes its connections before its parent is notified, so the launcher may see a peer's
// exit first. The search therefore starts at the first rank, in the order in which the
// launcher saw the exits, that fits one of these rules (rule 2 is used only if no rank
// fits rule 1, and rule 3 only if no rank fits rule 2):
//
//     1. killed by a signal other than SIGABRT and SIGPIPE (a lost peer causes these two)
//     2. failed, and reports no other rank as lost or silent
//     3. failed
//
// From there, the search follows the blame from rank to rank, as long as the blamed rank
// failed too. It stops before an end that it has visited: a rank may blame itself. If the
// last rank blames one that has not failed, it waited for that one: the launcher names it.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace mini::dist {

/// How one rank exited.
struct RankEnd {
    int rank = 0;
    bool failed = false;  // by itself, not because the launcher stopped it
    int signal = 0;       // the signal that killed the rank; 0: none
    int blamed = -1;      // the rank that it reports as lost or silent; -1: none
};

/// Returns the index in `ends` of the failure that caused the others; std::nullopt
/// if none of the first `seen` ranks failed. `ends` is in the order in which the launcher
/// saw the exits. It saw the first `seen` exits before it began to stop the remaining
/// ranks; a rank that exited later is the cause only if another rank blames it.
std::optional<size_t> root_cause(const std::vector<RankEnd>& ends, size_t seen);

}  // namespace mini::dist
