// The error report for the user when a rank has failed.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/tools/minirun/child.hpp"

namespace mini::tools {

/// How one rank ended.
struct End {
    int rank = 0;
    pid_t pid = 0;
    Exit exit;
    bool stopped_by_us = false;  // by a signal that minirun sent
    int64_t seen_at = 0;         // nanoseconds on the monotonic clock
};

/// Facts about the rank that failed first, in addition to its End.
struct Findings {
    std::string host;
    std::vector<std::string> notes;         // sentences: its last operation, its log file
    std::vector<std::string> stderr_lines;  // its last lines on stderr
};

/// Returns whether a rank failed for another reason than a signal that minirun sent.
inline bool failed_by_itself(const End& end) {
    return end.exit.failed() && !end.stopped_by_us;
}

/// Returns the lines of the report, without the prefix "minirun:": what happened, why,
/// and what to do. If `cause` has not failed by itself, the others waited for it.
std::vector<std::string> failure_report(const End& cause, const std::vector<End>& ends,
                                        const Findings& findings);

}  // namespace mini::tools
