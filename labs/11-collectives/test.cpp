// The checks of lab 11, task 11.1: shift, and the naive all-reduce; and the checks that
// all all-reduces share.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "labs/11-collectives/shift.hpp"
#include "labs/11-collectives/test_support.hpp"
#include "libmini/core/half.hpp"
#include "libmini/distributed/collectives/all_reduce.hpp"

using namespace mini;
using namespace mini::lab11;
using dist::ReduceOp;

namespace mini::lab11 {

void check_sums(AllReduce all_reduce, const std::string& hint) {
    const int ranks = GENERATE(3, 4, 2, 1, 5, 6, 7, 8, 9);
    const size_t n = GENERATE(5, 64, 1, 0);
    INFO(counted(ranks, "rank")
         << " with " << counted(n, "float") << "; rank r's float i is r + i + 1");
    INFO(hint);
    const Seen seen =
        on_cluster(ranks, integers(n), [&](auto& transport, Values& values) {
            all_reduce(transport, elements(values), ReduceOp::kSum);
        });
    const Values sum = sum_of_integers(ranks, n);
    for (size_t rank = 0; rank < seen.values.size(); ++rank) {
        INFO("rank " << rank << " called: " << in_words(seen.journals[rank]));
        for (size_t i = 0; i < n; ++i) {
            INFO("float " << i << " on rank " << rank << " should be " << sum[i]);
            REQUIRE(seen.values[rank][i] == sum[i]);
        }
    }
    INFO("messages that were sent and never received: " << seen.messages_left);
    REQUIRE(seen.messages_left == 0);
}

void check_operations(AllReduce all_reduce, const std::string& hint) {
    struct Wanted {
        ReduceOp op;
        const char* name;
        float value;
    };
    // The value of rank r is r + 1.
    const Wanted wanted = GENERATE(
        Wanted{ReduceOp::kSum, "sum", 21}, Wanted{ReduceOp::kAvg, "average", 3.5f},
        Wanted{ReduceOp::kProduct, "product", 720}, Wanted{ReduceOp::kMin, "minimum", 1},
        Wanted{ReduceOp::kMax, "maximum", 6});
    constexpr int kRanks = 6;
    const Seen seen =
        on_cluster(kRanks, integers(1), [&](auto& transport, Values& values) {
            all_reduce(transport, elements(values), wanted.op);
        });
    for (size_t rank = 0; rank < kRanks; ++rank) {
        INFO("the " << wanted.name << " of 1, 2, 3, 4, 5, 6, on rank " << rank);
        INFO(hint);
        REQUIRE(seen.values[rank] == Values{wanted.value});
    }
}

void check_half_average(AllReduce all_reduce, const std::string& hint) {
    constexpr float kLarge = 40000;  // twice this is more than 65504, the largest float16
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const Seen seen = on_cluster(
        ranks, [&](int) { return Values(5, kLarge); },
        [&](auto& transport, Values& values) {
            std::vector<Half> halves;
            for (const float value : values) halves.emplace_back(value);
            all_reduce(transport, dist::Elements(std::span(halves)), ReduceOp::kAvg);
            std::ranges::transform(halves, values.begin(),
                                   [](Half half) { return static_cast<float>(half); });
        });
    for (size_t rank = 0; rank < seen.values.size(); ++rank)
        for (const float value : seen.values[rank]) {
            INFO("the average of 40000 on " << counted(ranks, "rank")
                                            << ", in float16, is " << value << " on rank "
                                            << rank);
            INFO(
                "prepare_reduce divides float16 by a power of two, once, before the "
                "sum;");
            INFO("finish_reduce divides by the rest; " << hint);
            REQUIRE(std::abs(value - kLarge) <= 64);  // two units of float16 there
        }
}

void check_bits(AllReduce all_reduce, const std::string& hint) {
    const int ranks = GENERATE(2, 3, 4, 5, 6, 7, 8, 9);
    constexpr size_t kSize = 50;
    const Seen seen =
        on_cluster(ranks, fractions(kSize), [&](auto& transport, Values& values) {
            all_reduce(transport, elements(values), ReduceOp::kSum);
        });
    for (size_t rank = 1; rank < seen.values.size(); ++rank)
        for (size_t i = 0; i < kSize; ++i) {
            INFO("rank 0 and rank " << rank << " of " << ranks << " have "
                                    << seen.values[0][i] << " and "
                                    << seen.values[rank][i] << " at " << i);
            INFO("floats that are added in another order have other last bits; " << hint);
            REQUIRE(std::bit_cast<uint32_t>(seen.values[0][i]) ==
                    std::bit_cast<uint32_t>(seen.values[rank][i]));
        }
}

}  // namespace mini::lab11

namespace {

Seen shifted(int ranks, size_t n) {
    return on_cluster(ranks, integers(n), [](auto& transport, Values& values) {
        Values received(values.size());
        first::shift(transport, std::as_bytes(std::span(values)),
                     std::as_writable_bytes(std::span(received)));
        values = received;
    });
}

}  // namespace

TEST_CASE("shift gives each rank the values of its left neighbour", "[lab11][lab11.1]") {
    const int ranks = GENERATE(2, 3, 4, 5, 7, 9, 1);
    const size_t n = GENERATE(5, 1, 0);
    INFO(counted(ranks, "rank")
         << " with " << counted(n, "float") << "; rank r's float i is r + i + 1");
    INFO((ranks == 1 ? "one rank copies `out` to `in`, and calls no one"
                     : "hint 1 of 11.1 helps"));
    const Seen seen = shifted(ranks, n);
    for (int rank = 0; rank < ranks; ++rank) {
        const int left = (rank + ranks - 1) % ranks;
        INFO("rank " << rank << " should have the values of rank " << left
                     << "; it called: "
                     << in_words(seen.journals[static_cast<size_t>(rank)]));
        REQUIRE(seen.values[static_cast<size_t>(rank)] == integers(n)(left));
    }
}

TEST_CASE("shift takes at most three turns on any number of ranks", "[lab11][lab11.1]") {
    const int ranks = GENERATE(2, 3, 4, 7, 8, 9, 24);
    const Seen seen = shifted(ranks, 3);
    INFO(ranks << " ranks; messages that waited for each other in a row: " << seen.turns);
    INFO("if only one rank receives first, its left neighbour is freed, then the left");
    INFO("neighbour of that one: " << ranks << " turns; hint 2 of 11.1 helps");
    REQUIRE(seen.turns <= 3);
}

TEST_CASE("shift sends once and receives once, by calls of their own",
          "[lab11][lab11.1]") {
    const int ranks = GENERATE(2, 3, 4, 7);
    const Seen seen = shifted(ranks, 3);
    for (int rank = 0; rank < ranks; ++rank) {
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << " called: " << in_words(journal));
        INFO("wanted is one send to the right and one recv from the left, in some order");
        const Step send{.to = (rank + 1) % ranks, .sent = 12};
        const Step recv{.from = (rank + ranks - 1) % ranks, .received = 12};
        const bool is_as_wanted =
            journal == Journal{send, recv} || journal == Journal{recv, send};
        REQUIRE(is_as_wanted);
    }
}

TEST_CASE("the naive all-reduce leaves the sum on every rank", "[lab11][lab11.1]") {
    check_sums(dist::naive_all_reduce, "hint 2 of 11.1 helps");
}

TEST_CASE("the naive all-reduce knows all operations", "[lab11][lab11.1]") {
    check_operations(dist::naive_all_reduce,
                     "combine_for gives the operation, and finish_reduce divides for an "
                     "average, once; hint 2 of 11.1 helps");
}

TEST_CASE("the naive all-reduce averages large float16", "[lab11][lab11.1]") {
    check_half_average(dist::naive_all_reduce, "hint 2 of 11.1 helps");
}

TEST_CASE("in the naive all-reduce rank 0 receives from all, then answers",
          "[lab11][lab11.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    constexpr size_t kSize = 5, kBytes = kSize * sizeof(float);
    const Seen seen =
        on_cluster(ranks, integers(kSize), [](auto& transport, Values& values) {
            dist::naive_all_reduce(transport, elements(values), ReduceOp::kSum);
        });
    for (int rank = 0; rank < ranks; ++rank) {
        Journal wanted;
        if (rank != 0)
            wanted = {{.to = 0, .sent = kBytes}, {.from = 0, .received = kBytes}};
        for (int other = 1; rank == 0 && other < ranks; ++other)
            wanted.push_back({.from = other, .received = kBytes});
        for (int other = 1; rank == 0 && other < ranks; ++other)
            wanted.push_back({.to = other, .sent = kBytes});
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << " called: " << in_words(journal));
        INFO("and should call: " << in_words(wanted));
        const bool is_as_wanted = journal == wanted;
        REQUIRE(is_as_wanted);
    }
}
