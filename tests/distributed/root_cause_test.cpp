// root_cause: which of the ranks that ended caused the failures (root_cause.hpp).

#include "libmini/distributed/net/root_cause.hpp"

#include <signal.h>

#include "tests/support/catch.hpp"

using mini::dist::RankEnd;

namespace {

RankEnd succeeded(int rank) { return {.rank = rank}; }
RankEnd failed(int rank, int blamed = -1) {
    return {.rank = rank, .failed = true, .blamed = blamed};
}
RankEnd killed(int rank, int signal) {
    return {.rank = rank, .failed = true, .signal = signal};
}

// Returns the rank that is the root cause, -1 if no rank is. The launcher saw the first
// `seen` ends before it began to stop the job.
int cause_of(const std::vector<RankEnd>& ends, size_t seen) {
    const auto cause = mini::dist::root_cause(ends, seen);
    return cause ? ends[*cause].rank : -1;
}
int cause_of(const std::vector<RankEnd>& ends) { return cause_of(ends, ends.size()); }

}  // namespace

TEST_CASE("no rank is the root cause if each rank succeeds or is ended by the launcher") {
    CHECK(cause_of({}) == -1);
    CHECK(cause_of({succeeded(1), succeeded(0)}) == -1);
    CHECK(cause_of({succeeded(1), {.rank = 0, .signal = SIGTERM}}) == -1);
}

TEST_CASE("the first rank that failed is the root cause") {
    CHECK(cause_of({succeeded(2), failed(1), failed(0)}) == 1);
    CHECK(cause_of({killed(3, SIGSEGV), killed(0, SIGKILL)}) == 3);
}

TEST_CASE("a killed rank is the root cause even if its peer was seen to fail first") {
    CHECK(cause_of({failed(0), killed(1, SIGKILL)}) == 1);
    CHECK(cause_of({failed(0), failed(2), killed(1, SIGSEGV)}) == 1);
}

TEST_CASE("an abort after another rank's failure is a consequence of that failure") {
    CHECK(cause_of({failed(1), killed(0, SIGABRT)}) == 1);
    CHECK(cause_of({failed(1), killed(0, SIGPIPE)}) == 1);
    CHECK(cause_of({killed(0, SIGABRT), failed(1)}) == 0);
}

TEST_CASE(
    "a rank that ends after the launcher began to stop the job is not the root cause") {
    CHECK(cause_of({failed(1), killed(0, SIGSEGV)}, 1) == 1);
    CHECK(cause_of({succeeded(1), failed(0)}, 1) == -1);
}

TEST_CASE("a rank that blames another rank is not the root cause") {
    CHECK(cause_of({failed(0, 1), failed(1)}) == 1);
    CHECK(cause_of({failed(0, 1), failed(1, 2), failed(2)}) == 2);
    CHECK(cause_of({failed(0, 3), failed(2)}) == 2);  // rank 3 has not ended
}

TEST_CASE("a rank that is blamed is the root cause even if it ended last") {
    CHECK(cause_of({failed(0, 1), failed(1)}, 1) == 1);
    CHECK(cause_of({failed(0, 1), killed(1, SIGABRT)}, 1) == 1);
    CHECK(cause_of({failed(0, 1), succeeded(1)}, 1) == 0);  // rank 1 succeeded
}

TEST_CASE("a cycle of ranks that blame each other ends the search") {
    CHECK(cause_of({failed(0, 1), failed(1, 0)}) == 1);
    CHECK(cause_of({failed(0, 1), failed(1, 2), failed(2, 0)}) == 2);
    CHECK(cause_of({failed(0, 0)}) == 0);
}
