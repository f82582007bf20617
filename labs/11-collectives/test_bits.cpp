// The checks of lab 11, task 11.7: recursive doubling, and the order in which each all-reduce
// combines the ranks' data, which decides the last bits.

#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "labs/11-collectives/test_support.hpp"
#include "libmini/distributed/collectives/collectives.hpp"

using namespace mini;
using namespace mini::lab11;
using dist::ReduceOp;

namespace {

// The values of all ranks at one index, by rank.
using Column = std::vector<float>;

// Adds the data of ranks 4, 5, ... to that of 0, 1, ... if Q is 4 (fold.hpp).
Column folded(Column x) {
    const size_t Q = std::bit_floor(x.size());
    for (size_t rank = Q; rank < x.size(); ++rank) x[rank - Q] += x[rank];
    x.resize(Q);
    return x;
}

// Each rank adds the value of the partner that differs in one bit.
Column exchanged(const Column& x, size_t bit) {
    Column sums;
    for (size_t rank = 0; rank < x.size(); ++rank)
        sums.push_back(x[rank] + x[rank ^ bit]);
    return sums;
}

float doubled(const Column& x, size_t, size_t) {
    Column sums = folded(x);
    for (size_t bit = 1; bit < sums.size(); bit *= 2) sums = exchanged(sums, bit);
    return sums[0];
}

float halved(const Column& x, size_t, size_t) {
    Column sums = folded(x);
    for (size_t bit = sums.size() / 2; bit > 0; bit /= 2) sums = exchanged(sums, bit);
    return sums[0];
}

float in_order(const Column& x, size_t, size_t) {
    float sum = x[0];
    for (size_t rank = 1; rank < x.size(); ++rank) sum += x[rank];
    return sum;
}

// Chunk c starts on rank c, and goes to the right.
float around_the_ring(const Column& x, size_t i, size_t n) {
    const size_t P = x.size();
    size_t c = 0;
    while (n * (c + 1) / P <= i) ++c;
    float sum = x[c];
    for (size_t step = 1; step < P; ++step) sum += x[(c + step) % P];
    return sum;
}

// A rank adds its nearest child's sum first.
float up_the_tree(const Column& x, size_t, size_t) {
    Column sums = x;
    for (size_t bit = 1; bit < x.size(); bit *= 2)
        for (size_t rank = 0; rank + bit < x.size(); rank += 2 * bit)
            sums[rank] += sums[rank + bit];
    return sums[0];
}

struct Order {
    AllReduce all_reduce;
    float (*sum)(const Column&, size_t i, size_t n);
    const char* name;
    const char* words;
};

const Order kOrders[5] = {
    {dist::recursive_doubling_all_reduce, doubled, "recursive doubling",
     "the nearest partner first"},
    {dist::ring_all_reduce, around_the_ring, "ring",
     "chunk c starts on rank c, and goes to the right"},
    {dist::tree_all_reduce, up_the_tree, "tree", "the nearest child first"},
    {dist::naive_all_reduce, in_order, "naive", "in the order of the ranks"},
    {dist::halving_doubling_all_reduce, halved, "halving-doubling",
     "the farthest partner first"},
};

// The value is 0.0 on rank `positive` and -0.0 on the others. Neither is less, so their
// minimum is the value that comes first.
std::function<Values(int)> zeros(int positive) {
    return [positive](int rank) { return Values{rank == positive ? 0.0f : -0.0f}; };
}

}  // namespace

TEST_CASE("recursive doubling leaves the sum on every rank", "[lab11][lab11.7]") {
    check_sums(dist::recursive_doubling_all_reduce);
}

TEST_CASE("recursive doubling knows all operations", "[lab11][lab11.7]") {
    check_operations(dist::recursive_doubling_all_reduce);
}

TEST_CASE("recursive doubling averages large float16", "[lab11][lab11.7]") {
    check_half_average(dist::recursive_doubling_all_reduce);
}

TEST_CASE("recursive doubling gives all ranks the same bits", "[lab11][lab11.7]") {
    check_bits(dist::recursive_doubling_all_reduce,
               "both partners add the same two sums");
}

TEST_CASE("recursive doubling sends the whole buffer to log2 P partners",
          "[lab11][lab11.7]") {
    const int ranks = GENERATE(4, 1, 2, 8);
    const Seen seen =
        all_reduced(dist::recursive_doubling_all_reduce, ranks, integers(5));
    for (size_t rank = 0; rank < seen.journals.size(); ++rank) {
        INFO("rank " << rank << " of " << ranks
                     << " called: " << in_words(seen.journals[rank]));
        const int rounds = rounds_of(ranks);
        REQUIRE(sent_by(seen.journals[rank]) ==
                Sent{rounds, static_cast<size_t>(rounds) * 5 * sizeof(float)});
    }
    REQUIRE(seen.turns == rounds_of(ranks));
}

TEST_CASE("partners combine in one order, the lower rank's data first",
          "[lab11][lab11.7]") {
    const int ranks = GENERATE(2, 4, 5, 8);
    for (int positive = 0; positive < ranks; ++positive) {
        const Seen seen = all_reduced(dist::recursive_doubling_all_reduce, ranks,
                                      zeros(positive), ReduceOp::kMin);
        for (size_t rank = 0; rank < seen.values.size(); ++rank) {
            INFO("the minimum of 0 (on rank " << positive << ") and -0 (on the others)");
            INFO("is the first of the two, so all " << ranks << " ranks have rank 0's");
            REQUIRE(in_digits(seen.values[rank][0]) == (positive == 0 ? "0" : "-0"));
        }
    }
}

TEST_CASE("each all-reduce has the last bits of libmini's", "[lab11][lab11.7]") {
    constexpr size_t kSize = 50;
    const Order& order = kOrders[GENERATE(range(0, 5))];  // a run for each, if one fails
    for (const int ranks : {3, 4, 5, 7, 8}) {
        const Seen seen =
            all_reduced(order.all_reduce, ranks, fractions(kSize), ReduceOp::kAvg);
        for (size_t i = 0; i < kSize; ++i) {
            Column column;
            for (int rank = 0; rank < ranks; ++rank)
                column.push_back(fractions(kSize)(rank)[i]);
            INFO(order.name << ", " << ranks << " ranks, float " << i);
            INFO("libmini's order of the sum: " << order.words
                                                << "; the average is one division");
            REQUIRE(in_digits(seen.values[0][i]) ==
                    in_digits(order.sum(column, i, kSize) / static_cast<float>(ranks)));
        }
    }
}
