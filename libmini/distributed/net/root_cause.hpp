// Which rank's failure caused the failures of the others. All launchers use this.
//
// When a rank dies, its peers fail a moment later because it is gone. A dying process
// closes its connections before its parent is notified, so the launcher may see a peer's
// exit first. The cause is therefore the first rank, in the order in which the exits were
// seen,
//
//     1. that was killed by a signal (not SIGABRT or SIGPIPE: a lost peer causes these),
//     2. else, that failed and blames no other rank,
//     3. else, that failed.
//
// From there, the search follows the chain of blame to the last rank that failed.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace mini::dist {

/// How one rank exited.
struct RankEnd {
    int rank = 0;
    bool failed = false;  // by itself: not because the launcher stopped it
    int signal = 0;       // the signal that killed it; 0: none
    int blamed = -1;      // the rank whose loss it reports as the reason; -1: none
};

/// How long a launcher waits for the exit of a rank that is blamed.
constexpr std::chrono::milliseconds kBlamedTime(3000);

/// Returns the index in `ends` of the rank that caused the others' failures; std::nullopt
/// if no rank failed. `ends` is in the order in which the exits were seen, the first
/// `seen` before the launcher began to stop the remaining ranks: a later rank is the
/// cause only if it is blamed.
std::optional<size_t> root_cause(const std::vector<RankEnd>& ends, size_t seen);

}  // namespace mini::dist
