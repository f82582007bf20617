#include "libmini/distributed/group/gather.hpp"

#include <cstdint>

#include "libmini/distributed/launch/launch.hpp"
#include "tests/support/catch.hpp"

using namespace mini::dist;

TEST_CASE(
    "all_gather_values returns the values of all ranks in rank order on every rank") {
    const int ranks = GENERATE(1, 2, 3, 7);
    const size_t count = GENERATE(0, 1, 5);
    CAPTURE(ranks, count);
    using Values = std::vector<int64_t>;
    std::vector<std::vector<Values>> seen(static_cast<size_t>(ranks));
    run_threads(ranks, [&](ProcessGroup& group) {
        const Values mine(count, 10 * group.rank());
        seen[static_cast<size_t>(group.rank())] = all_gather_values(group, mine);
    });

    std::vector<Values> expected;
    for (int rank = 0; rank < ranks; ++rank) expected.emplace_back(count, 10 * rank);
    for (const auto& values : seen) CHECK(values == expected);
}
