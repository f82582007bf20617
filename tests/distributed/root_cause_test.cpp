// Which rank's end caused the others: the rules of root_cause.hpp.

#include "libmini/distributed/net/root_cause.hpp"

#include <signal.h>

#include "tests/support/catch.hpp"

using mini::dist::RankEnd;

namespace {

RankEnd in_order(int rank) { return {.rank = rank}; }
RankEnd failed(int rank, int blamed = -1) {
    return {.rank = rank, .failed = true, .blamed = blamed};
}
RankEnd killed(int rank, int signal) {
    return {.rank = rank, .failed = true, .signal = signal};
}

// The rank that is the cause when the launcher had seen `seen` ends before it acted.
int cause_of(const std::vector<RankEnd>& ends, size_t seen) {
    const auto cause = mini::dist::root_cause(ends, seen);
    return cause ? ends[*cause].rank : -1;
}
int cause_of(const std::vector<RankEnd>& ends) { return cause_of(ends, ends.size()); }

}  // namespace

TEST_CASE("no rank is the cause when all end well or were ended by their launcher") {
    CHECK(cause_of({}) == -1);
    CHECK(cause_of({in_order(1), in_order(0)}) == -1);
    CHECK(cause_of({in_order(1), {.rank = 0, .signal = SIGTERM}}) == -1);
}

TEST_CASE("the first rank that failed is the cause") {
    CHECK(cause_of({in_order(2), failed(1), failed(0)}) == 1);
    CHECK(cause_of({killed(3, SIGSEGV), killed(0, SIGKILL)}) == 3);
}

TEST_CASE("a killed rank is the cause even when its peer was seen to fail before it") {
    CHECK(cause_of({failed(0), killed(1, SIGKILL)}) == 1);
    CHECK(cause_of({failed(0), failed(2), killed(1, SIGSEGV)}) == 1);
}

TEST_CASE("an abort after another rank's failure is taken for its consequence") {
    CHECK(cause_of({failed(1), killed(0, SIGABRT)}) == 1);
    CHECK(cause_of({failed(1), killed(0, SIGPIPE)}) == 1);
    CHECK(cause_of({killed(0, SIGABRT), failed(1)}) == 0);
}

TEST_CASE("what ends after the launcher began to stop the job is no cause") {
    CHECK(cause_of({failed(1), killed(0, SIGSEGV)}, 1) == 1);
    CHECK(cause_of({in_order(1), failed(0)}, 1) == -1);
}

TEST_CASE("a rank that blames another is a consequence") {
    CHECK(cause_of({failed(0, 1), failed(1)}) == 1);
    CHECK(cause_of({failed(0, 1), failed(1, 2), failed(2)}) == 2);
    CHECK(cause_of({failed(0, 3), failed(2)}) == 2);  // rank 3 has not ended
}

TEST_CASE("a rank that is blamed is the cause also when it ended last") {
    CHECK(cause_of({failed(0, 1), failed(1)}, 1) == 1);
    CHECK(cause_of({failed(0, 1), killed(1, SIGABRT)}, 1) == 1);
    CHECK(cause_of({failed(0, 1), in_order(1)}, 1) == 0);  // rank 1 ended in order
}

TEST_CASE("ranks that blame each other end the search") {
    CHECK(cause_of({failed(0, 1), failed(1, 0)}) == 1);
    CHECK(cause_of({failed(0, 1), failed(1, 2), failed(2, 0)}) == 2);
    CHECK(cause_of({failed(0, 0)}) == 0);
}
