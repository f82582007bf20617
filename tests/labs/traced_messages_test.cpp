// simulate messages: replays the messages of every algorithm; each message must hold
// what its sender had, and in the end every rank must have the sum of all.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "labs/20-scaling-by-simulation/traced_messages.hpp"
#include "tests/support/catch.hpp"

using mini::dist::Algorithm;
using mini::lab20::trace_all_reduce;
using mini::lab20::TracedMessage;

namespace {

using Sums = std::vector<std::vector<uint32_t>>;  // by rank, by element

// Returns what the ranks have after the messages. A message of a step holds what its
// sender had before the step.
Sums replayed(const std::vector<TracedMessage>& messages, int world_size,
              size_t elements) {
    Sums now;
    for (int rank = 0; rank < world_size; ++rank)
        now.emplace_back(elements, uint32_t{1} << rank);
    Sums before = now;
    int step = 0;
    for (const TracedMessage& message : messages) {
        if (message.step > step) {
            step = message.step;
            before = now;
        }
        REQUIRE(message.step == step);
        for (size_t i = 0; i < message.sums.size(); ++i) {
            uint32_t& mine = now[message.to][message.first + i];
            const uint32_t theirs = before[message.from][message.first + i];
            if (message.combines)
                REQUIRE((mine & theirs) == 0);  // no number counts twice
            mine = message.combines ? mine | theirs : theirs;
            REQUIRE(message.sums[i] == mine);
        }
    }
    return now;
}

TEST_CASE("the traced messages leave the sum of all ranks on every rank") {
    const auto algorithm = GENERATE(Algorithm::kNaive, Algorithm::kTree, Algorithm::kRing,
                                    Algorithm::kHalvingDoubling);
    const int ranks = GENERATE(1, 2, 3, 4, 5, 6, 7, 8, 16);
    const size_t elements = GENERATE(0, 1, 3, 8, 13);
    CAPTURE(algorithm_name(algorithm), ranks, elements);
    const auto messages = trace_all_reduce(algorithm, ranks, elements);
    const uint32_t all = (uint32_t{1} << ranks) - 1;
    CHECK(replayed(messages, ranks, elements) ==
          Sums(ranks, std::vector<uint32_t>(elements, all)));
}

TEST_CASE("the traced steps are those of the algorithm") {
    const auto steps = [](Algorithm algorithm, int ranks) {
        return trace_all_reduce(algorithm, ranks, ranks).back().step;
    };
    CHECK(steps(Algorithm::kRing, 4) == 2 * 3);
    CHECK(steps(Algorithm::kRing, 7) == 2 * 6);
    CHECK(steps(Algorithm::kTree, 8) == 2 * 3);
    CHECK(steps(Algorithm::kHalvingDoubling, 8) == 2 * 3);
    CHECK(steps(Algorithm::kHalvingDoubling, 7) == 2 * 2 + 2);  // three ranks folded
    CHECK(trace_all_reduce(Algorithm::kRing, 4, 4).size() == 4 * 2 * 3);
}

}  // namespace
