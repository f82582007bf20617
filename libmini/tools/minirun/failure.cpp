#include "libmini/tools/minirun/failure.hpp"

#include <signal.h>

namespace mini::tools {
namespace {

std::string advice(const End& end) {
    if (!end.exit.by_signal || end.stopped_by_us) return "";
    switch (end.exit.number) {
        case SIGKILL: return "; another process killed it, or memory ran out (see dmesg)";
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL: return "; a build with the debug preset shows the source line";
    }
    return "";
}

}  // namespace

std::vector<std::string> failure_report(const End& cause, const std::vector<End>& ends,
                                        const Findings& findings) {
    std::vector<std::string> report;
    const char* verb = cause.exit.by_signal ? " was killed by " : " ended with ";
    report.push_back(concat("rank ", cause.rank, " (pid ", cause.pid, ")",
                            cause.stopped_by_us   ? " kept the others waiting"
                            : cause.exit.failed() ? verb + cause.exit.text()
                                                  : " returned early",
                            " on ", findings.host, advice(cause)));
    report.insert(report.end(), findings.notes.begin(), findings.notes.end());

    // Quote the last lines of the rank's stderr.
    const std::vector<std::string>& lines = findings.stderr_lines;
    if (!lines.empty()) report.push_back("its last lines on stderr:");
    for (const std::string& line : lines) report.push_back("  | " + line);

    // List the other failed ranks in one line.
    std::string others;
    for (const End& end : ends)
        if (end.rank != cause.rank && failed_by_itself(end))
            others += concat(others.empty() ? "" : ", ", "rank ", end.rank, " (",
                             end.exit.text(), ")");
    if (!others.empty()) report.push_back("failed after it: " + others);
    return report;
}

}  // namespace mini::tools
