// What to tell the user when a rank has failed.

#pragma once

#include <sys/types.h>

#include <cstdint>
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

/// Whether a rank failed without minirun's help.
inline bool failed_by_itself(const End& end) {
    return end.exit.failed() && !end.stopped_by_us;
}

/// What happened, why, and what to do: lines without "minirun:" before them.
std::vector<std::string> failure_report(const End& cause, const std::vector<End>& ends,
                                        const Findings& findings);

}  // namespace mini::tools
