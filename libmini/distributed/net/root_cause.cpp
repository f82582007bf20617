#include "libmini/distributed/net/root_cause.hpp"

#include <signal.h>

#include <algorithm>

namespace mini::dist {
namespace {

bool was_killed(const RankEnd& end) {
    return end.failed && end.signal != 0 && end.signal != SIGABRT &&
           end.signal != SIGPIPE;
}

bool blames_none(const RankEnd& end) { return end.failed && end.blamed < 0; }

bool has_failed(const RankEnd& end) { return end.failed; }

}  // namespace

std::optional<size_t> root_cause(const std::vector<RankEnd>& ends, size_t seen) {
    const auto begin = ends.begin();
    const auto last = begin + static_cast<std::ptrdiff_t>(seen);
    auto cause = std::find_if(begin, last, was_killed);
    if (cause == last) cause = std::find_if(begin, last, blames_none);
    if (cause == last) cause = std::find_if(begin, last, has_failed);
    if (cause == last) return std::nullopt;

    std::vector<bool> visited(ends.size());  // ranks may blame each other
    while (true) {
        visited[static_cast<size_t>(cause - begin)] = true;
        const auto blamed = std::find_if(begin, ends.end(), [&](const RankEnd& end) {
            return end.failed && end.rank == cause->blamed;
        });
        if (blamed == ends.end() || visited[static_cast<size_t>(blamed - begin)]) break;
        cause = blamed;
    }
    return static_cast<size_t>(cause - begin);
}

}  // namespace mini::dist
