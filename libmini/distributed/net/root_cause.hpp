// Which rank's end caused the ends of the others: what all launchers ask.
//
// When a rank dies, its peers fail a moment later because it is gone. A dying process closes
// its connections before its parent hears of its death, so a quick peer may be seen first.
// The cause is therefore the first rank, in the order seen,
//
//     1. that was killed by a signal which no lost peer explains (SIGABRT and SIGPIPE it may),
//     2. else, that failed and blames no other rank for it,
//     3. else, that failed;
//
// and then, from each rank to the one that it blames, the last that failed itself.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace mini::dist {

/// How one rank ended.
struct RankEnd {
    int rank = 0;
    bool failed = false;  // by itself: not because the launcher ended it
    int signal = 0;       // the signal that killed it; 0: none
    int blamed = -1;      // the rank whose loss it names as the reason; -1: none
};

/// How long a launcher waits for the end of a rank that is blamed.
constexpr std::chrono::milliseconds kBlamedTime(3000);

/// The index of the end that caused the others; nothing when no rank failed. `ends` in the
/// order in which they were seen, `seen` of them before the launcher began to end the rest:
/// a later one is a cause only when it is blamed.
std::optional<size_t> root_cause(const std::vector<RankEnd>& ends, size_t seen);

}  // namespace mini::dist
