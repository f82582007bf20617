// Which rank's end was the cause, and what to tell the user about it.
//
// When a rank dies, its peers fail a moment later because it is gone. The cause is the
// one that ended first, but a dying process closes its connections before its parent
// hears of its death, so a quick peer may be seen first. Hence: a rank killed by a signal
// that was not ours goes before ranks that ended by themselves; SIGABRT and SIGPIPE do
// not, as a lost peer may well cause them.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libmini/tools/minirun/child.hpp"

namespace mini::tools {

/// The end of one rank.
struct End {
    int rank = 0;
    pid_t pid = 0;
    Exit exit;
    bool stopped_by_us = false;  // ended by a signal that minirun sent
    int64_t seen_at = 0;         // nanoseconds on the monotonic clock
};

/// What is known about the cause besides its end.
struct Findings {
    std::string host;
    std::vector<std::string> notes;  // sentences: what it was doing, where its log is
    std::vector<std::string> stderr_lines;  // the last ones that it wrote
};

/// The end that caused the others; none when no rank failed by itself. `ends` come in the
/// order in which they were seen; `gathered` of them before minirun acted.
std::optional<End> root_cause(const std::vector<End>& ends, size_t gathered);

/// What happened, why, and what to do: lines without "minirun:" before them.
std::vector<std::string> failure_report(const End& cause, const std::vector<End>& ends,
                                        const Findings& findings);

}  // namespace mini::tools
