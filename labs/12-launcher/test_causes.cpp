// The checks of lab 12, task 12.4: the rank that failed first.

#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "labs/12-launcher/test_support.hpp"
#include "libmini/distributed/net/root_cause.hpp"

using namespace mini;
using namespace mini::lab12;
using dist::RankEnd;
using dist::root_cause;

namespace {

RankEnd fine(int rank) { return {.rank = rank}; }
RankEnd failed(int rank, int blamed = -1) {
    return {.rank = rank, .failed = true, .blamed = blamed};
}
RankEnd killed(int rank, int signal, int blamed = -1) {
    return {.rank = rank, .failed = true, .signal = signal, .blamed = blamed};
}
RankEnd stopped(int rank) { return {.rank = rank, .failed = false, .signal = SIGTERM}; }

// Calls root_cause with the first `seen` ends as suspects, by default all. Returns the
// rank of the cause, or -1 if there is none.
int cause_of(const std::vector<RankEnd>& ends, size_t seen = 99) {
    const auto index = root_cause(ends, std::min(seen, ends.size()));
    if (!index) return -1;
    REQUIRE(*index < ends.size());
    return ends[*index].rank;
}

}  // namespace

TEST_CASE("without a failure there is no cause", "[lab12][lab12.4]") {
    CHECK(cause_of({}) == -1);
    CHECK(cause_of({fine(0), fine(1)}) == -1);
    INFO("rank 1 was stopped by the launcher: a signal, but no failure");
    CHECK(cause_of({fine(0), stopped(1)}) == -1);
    CHECK(cause_of({stopped(1), failed(0)}) == 0);
}

TEST_CASE("a killed rank is the cause although others were seen first",
          "[lab12][lab12.4]") {
    {
        INFO("rank 0 ended with an exit code, then rank 1 with SIGKILL");
        CHECK(cause_of({failed(0), killed(1, SIGKILL)}) == 1);
        CHECK(cause_of({failed(0), failed(3), killed(2, SIGSEGV), failed(1)}) == 2);
    }
    {
        INFO("two were killed: the first of them");
        CHECK(cause_of({killed(3, SIGSEGV), killed(1, SIGKILL)}) == 3);
    }
    INFO("a lost peer may cause SIGABRT and SIGPIPE, so these count as exit codes");
    CHECK(cause_of({failed(0), killed(1, SIGABRT)}) == 0);
    CHECK(cause_of({failed(0), killed(1, SIGPIPE)}) == 0);
}

TEST_CASE("a rank that blames no other is the cause before one that does",
          "[lab12][lab12.4]") {
    INFO("rank 0 blames rank 5, which has not ended; rank 2 blames none; so does rank 1");
    CHECK(cause_of({failed(0, 5), failed(2), failed(1)}) == 2);
    INFO("all blame ranks that have not ended: the first");
    CHECK(cause_of({failed(3, 5), failed(2, 5), failed(1, 6)}) == 3);
    CHECK(cause_of({fine(0), failed(1)}) == 1);
}

TEST_CASE("only ranks that ended before the launcher stopped the others can be suspects",
          "[lab12][lab12.4]") {
    INFO("rank 1 crashed while the launcher stopped it; it is not among the first 1");
    CHECK(cause_of({failed(0), killed(1, SIGSEGV)}, 1) == 0);
    CHECK(cause_of({failed(0, 7), failed(1)}, 1) == 0);
    CHECK(cause_of({fine(0), failed(1)}, 1) == -1);
    INFO("but if rank 0 blames it, it is the cause");
    CHECK(cause_of({failed(0, 1), failed(1)}, 1) == 1);
}

TEST_CASE("the chain of blame is followed to its end", "[lab12][lab12.4]") {
    const int length = GENERATE(1, 2, 3, 4, 7);
    std::vector<RankEnd> ends;
    for (int rank = 0; rank < length; ++rank)
        ends.push_back(failed(rank, rank + 1));  // the last one blames a rank that runs
    INFO("each of " << length << " ranks blames the next, the last one rank " << length
                    << ", which has not ended");
    CHECK(cause_of(ends) == length - 1);
    CHECK(cause_of(ends, 1) == length - 1);

    const std::vector<RankEnd> reversed(ends.rbegin(), ends.rend());
    INFO("seen in the reverse order: an index into the ends is not a rank");
    CHECK(cause_of(reversed) == length - 1);
}

TEST_CASE("the chain goes on from a killed rank and stops at one that did not fail",
          "[lab12][lab12.4]") {
    CHECK(cause_of({failed(2), killed(0, SIGTERM, 3), failed(3)}) == 3);
    INFO("rank 0 blames rank 1, which ended well, or was stopped by the launcher");
    CHECK(cause_of({failed(0, 1), fine(1)}) == 0);
    CHECK(cause_of({failed(0, 1), stopped(1)}) == 0);
}

TEST_CASE("ranks that blame each other do not make an endless chain",
          "[lab12][lab12.4]") {
    {
        INFO("a rank that blames itself");
        CHECK(cause_of({failed(0, 0)}) == 0);
    }
    const int length = GENERATE(2, 3, 4, 7);
    std::vector<RankEnd> ends;
    for (int rank = 0; rank < length; ++rank)
        ends.push_back(failed(rank, (rank + 1) % length));
    INFO(length << " ranks in a circle: from rank 0 the chain stops before it would "
                   "return to rank 0");
    CHECK(cause_of(ends) == length - 1);
    INFO("the same with a rank 20 that blames rank 0 and is seen first");
    ends.insert(ends.begin(), failed(20, 0));
    CHECK(cause_of(ends) == length - 1);
}
