// The checks of lab 11, task 11.1: shift, and the naive all-reduce; and the checks that
// all all-reduces share.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "labs/11-collectives/shift.hpp"
#include "labs/11-collectives/test_support.hpp"
#include "libmini/core/half.hpp"
#include "libmini/distributed/collectives/collectives.hpp"

using namespace mini;
using namespace mini::lab11;
using dist::ReduceOp;

namespace mini::lab11 {

Seen all_reduced(AllReduce all_reduce, int ranks,
                 const std::function<Values(int)>& first_values, ReduceOp op) {
    return on_cluster(ranks, first_values, [&](auto& transport, Values& values) {
        all_reduce(transport, elements(values), op);
    });
}

void check_sums(AllReduce all_reduce, const Remark& remark) {
    const int ranks = GENERATE(2, 3, 4, 1, 5, 6, 7, 8, 9);
    const size_t n = GENERATE(5, 64, 1, 0);
    INFO(counted(ranks, "rank")
         << " with " << counted(n, "float") << "; rank r's float i is r + i + 1");
    const Seen seen = all_reduced(all_reduce, ranks, integers(n));
    const Values sum = sum_of_integers(ranks, n);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto r = static_cast<size_t>(rank);
        INFO("rank " << rank << " called: " << in_words(seen.journals[r]));
        INFO((remark ? remark(seen, rank) : ""));
        for (size_t i = 0; i < n; ++i) {
            INFO("float " << i << " on rank " << rank << " should be " << sum[i]);
            REQUIRE(seen.values[r][i] == Approx(sum[i]));
        }
    }
    INFO("messages that were sent and never received: " << seen.messages_left);
    REQUIRE(seen.messages_left == 0);
}

void check_operations(AllReduce all_reduce) {
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
    const Seen seen = all_reduced(all_reduce, kRanks, integers(1), wanted.op);
    for (size_t rank = 0; rank < kRanks; ++rank) {
        INFO("the " << wanted.name << " of 1, 2, 3, 4, 5, 6, on rank " << rank);
        INFO(
            "combine_for gives the operation; finish_reduce divides for an average, "
            "once");
        REQUIRE(seen.values[rank][0] == Approx(wanted.value));
    }
}

void check_half_average(AllReduce all_reduce) {
    constexpr float kLarge = 40000;  // twice this is more than 65504, the largest float16
    const int ranks = GENERATE(2, 3, 1, 4, 7);
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
                                            << ", in float16, on rank " << rank);
            INFO(
                "prepare_reduce divides float16 by a power of two, once, before the "
                "first");
            INFO("message; finish_reduce divides by the rest");
            REQUIRE(value == Approx(kLarge).margin(64));  // two units of float16 there
        }
}

void check_bits(AllReduce all_reduce, const std::string& why) {
    const int ranks = GENERATE(2, 3, 4, 5, 6, 7, 8, 9);
    constexpr size_t kSize = 50;
    const Seen seen = all_reduced(all_reduce, ranks, fractions(kSize));
    for (size_t rank = 1; rank < seen.values.size(); ++rank)
        for (size_t i = 0; i < kSize; ++i) {
            INFO("float " << i << " on rank " << rank << " of " << ranks
                          << ", compared with rank 0's; " << why);
            REQUIRE(in_digits(seen.values[rank][i]) == in_digits(seen.values[0][i]));
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
    INFO((ranks == 1 ? "one rank copies `out` to `in`, and calls no one" : ""));
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
    const int ranks = GENERATE(4, 2, 3, 7, 8, 9, 24);
    const Seen seen = shifted(ranks, 3);
    INFO(ranks << " ranks; messages that waited for each other in a row: " << seen.turns);
    INFO("if only one rank receives first, its left neighbour is freed, then the left");
    INFO("neighbour of that one: " << ranks << " turns");
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
    check_sums(dist::naive_all_reduce);
}

TEST_CASE("the naive all-reduce knows all operations", "[lab11][lab11.1]") {
    check_operations(dist::naive_all_reduce);
}

TEST_CASE("the naive all-reduce averages large float16", "[lab11][lab11.1]") {
    check_half_average(dist::naive_all_reduce);
}

TEST_CASE("the naive all-reduce gives all ranks the same bits", "[lab11][lab11.1]") {
    check_bits(dist::naive_all_reduce, "rank 0 adds, and the others copy");
}

TEST_CASE("in the naive all-reduce rank 0 receives from all, then answers",
          "[lab11][lab11.1]") {
    const int ranks = GENERATE(2, 3, 1, 4, 7);
    constexpr size_t kSize = 5, kBytes = kSize * sizeof(float);
    const Seen seen = all_reduced(dist::naive_all_reduce, ranks, integers(kSize));
    for (int rank = 0; rank < ranks; ++rank) {
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << " called: " << in_words(journal));
        INFO("each other rank sends its " << kBytes << " bytes to rank 0 once, and");
        INFO("receives the result once; rank 0 calls no other function");
        const int messages = rank == 0 ? ranks - 1 : 1;
        REQUIRE(sent_by(journal) ==
                Sent{messages, static_cast<size_t>(messages) * kBytes});
        REQUIRE(journal.size() == 2 * static_cast<size_t>(messages));
        for (const Step& step : journal)
            REQUIRE((rank == 0 || step.to + step.from == -1));
    }
}
