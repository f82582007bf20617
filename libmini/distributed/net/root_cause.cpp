#include "libmini/distributed/net/root_cause.hpp"

#include <signal.h>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

bool was_killed(const RankEnd& end) {
    return end.failed && end.signal != 0 && end.signal != SIGABRT &&
           end.signal != SIGPIPE;
}

bool blames_none(const RankEnd& end) { return end.failed && end.blamed < 0; }

bool has_failed(const RankEnd& end) { return end.failed; }

// Returns the index of the first end that fulfils the condition, among the first `seen`
// ends; std::nullopt if there is none.
template <typename Condition>
std::optional<size_t> first_end(const std::vector<RankEnd>& ends, size_t seen,
                                const Condition& condition) {
    for (size_t i = 0; i < seen; ++i)
        if (condition(ends[i])) return i;
    return std::nullopt;
}

// Returns the index of the end at which the search starts: applies rules 1 to 3 of
// root_cause.hpp, in this order, to the first `seen` ends. Returns std::nullopt if no end
// fits a rule.
std::optional<size_t> first_suspect(const std::vector<RankEnd>& ends, size_t seen) {
    // [lab12.4] Apply the three rules, one after the other.
    for (const auto& rule : {was_killed, blames_none, has_failed})
        if (const auto found = first_end(ends, seen, rule)) return found;
    return std::nullopt;
    // [lab12.4]
}

// Returns the index of the last end on the chain of blame that starts at ends[suspect].
// The chain goes from an end to the end of the rank that it blames, if that end has
// failed and was not visited before; all ends count, not only the first `seen`.
size_t follow_blame(const std::vector<RankEnd>& ends, size_t suspect) {
    // [lab12.4] Follow the chain of blame.
    std::vector<bool> visited(ends.size());
    while (true) {
        visited[suspect] = true;
        const auto blamed = first_end(ends, ends.size(), [&](const RankEnd& end) {
            return end.failed && end.rank == ends[suspect].blamed;
        });
        if (!blamed || visited[*blamed]) return suspect;
        suspect = *blamed;
    }
    // [lab12.4]
}

}  // namespace

std::optional<size_t> root_cause(const std::vector<RankEnd>& ends, size_t seen) {
    const std::optional<size_t> suspect = first_suspect(ends, seen);
    if (!suspect) return std::nullopt;
    return follow_blame(ends, *suspect);
}

}  // namespace mini::dist
