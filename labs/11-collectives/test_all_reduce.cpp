// The checks of lab 11, tasks 11.3 to 11.5: the ring, recursive doubling, halving and
// doubling, and the choice of an algorithm.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "labs/11-collectives/test_support.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/all_reduce.hpp"
#include "libmini/distributed/collectives/all_reduce_time.hpp"

using namespace mini;
using namespace mini::lab11;
using dist::Algorithm;
using dist::ReduceOp;

namespace {

Seen summed(AllReduce all_reduce, int ranks, size_t n) {
    return on_cluster(ranks, integers(n), [&](auto& transport, Values& values) {
        all_reduce(transport, elements(values), ReduceOp::kSum);
    });
}

// A chunk of a buffer: its number, and its place in bytes.
struct Chunk {
    int number = 0;
    size_t begin = 0, size = 0;
};

// Returns chunk k modulo the number of ranks.
Chunk chunk_of(int k, int ranks, size_t n) {
    const auto P = static_cast<size_t>(ranks);
    const auto i = static_cast<size_t>((k + 2 * ranks) % ranks);
    const size_t begin = n * i / P, end = n * (i + 1) / P;
    return {static_cast<int>(i), begin * sizeof(float), (end - begin) * sizeof(float)};
}

// The chunks that a rank sends, by step.
std::vector<Chunk> table_row(int rank, int ranks, size_t n) {
    std::vector<Chunk> row;
    for (int step = 0; step < 2 * (ranks - 1); ++step)
        row.push_back(
            chunk_of(step < ranks - 1 ? rank - step : rank - step + ranks, ranks, n));
    return row;
}

// Returns the first step in which a rank sent another chunk of its buffer, in words; "" if
// there is none.
std::string first_wrong_chunk(const Journal& journal, const Values& buffer,
                              const std::vector<Chunk>& row, int ranks) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(buffer.data());
    for (size_t step = 0; step < std::min(journal.size(), row.size()); ++step) {
        const Step& call = journal[step];
        const size_t begin = static_cast<size_t>(call.out - bytes);
        if (call.sent == 0 || begin >= buffer.size() * sizeof(float)) continue;
        for (int k = 0; k < ranks; ++k) {
            const Chunk sent = chunk_of(k, ranks, buffer.size());
            if (sent.begin == begin && sent.size == call.sent && k != row[step].number)
                return concat("step ", step, ": it sent chunk ", k,
                              "; the table says chunk ", row[step].number);
        }
    }
    return "";
}

const char* sign_of(float zero) { return std::signbit(zero) ? "-0.0" : "+0.0"; }

// The value is 0.0 on rank `positive` and -0.0 on the others. Neither is less, so their
// minimum is the value that comes first.
std::function<Values(int)> zeros(int positive) {
    return [positive](int rank) { return Values{rank == positive ? 0.0f : -0.0f}; };
}

struct Named {
    AllReduce all_reduce;
    const char* name;
};

Named either_of_11_4() {
    return GENERATE(Named{&dist::recursive_doubling_all_reduce, "recursive doubling"},
                    Named{&dist::halving_doubling_all_reduce, "halving-doubling"});
}

void check_zeros(AllReduce all_reduce) {
    const int ranks = GENERATE(2, 4, 5, 8);
    for (int positive = 0; positive < ranks; ++positive) {
        const Seen seen =
            on_cluster(ranks, zeros(positive), [&](auto& transport, Values& values) {
                all_reduce(transport, elements(values), ReduceOp::kMin);
            });
        for (size_t rank = 1; rank < seen.values.size(); ++rank) {
            INFO("the minimum of +0.0 (on rank " << positive
                                                 << ") and -0.0 (on the others)");
            INFO("is the first of the two, so both partners must combine in one order:");
            INFO("the lower rank's first; rank " << rank << " and rank 0 differ");
            const std::string sign = sign_of(seen.values[rank][0]);
            REQUIRE(sign == sign_of(seen.values[0][0]));
        }
    }
}

}  // namespace

TEST_CASE("each step of the ring sends the chunk of the table", "[lab11][lab11.3]") {
    const int ranks = GENERATE(3, 4, 2, 1, 7);
    const size_t n = GENERATE(38, 5, 1, 0);  // chunks of several sizes, also empty chunks
    const Seen seen = summed(dist::ring_all_reduce, ranks, n);
    for (int rank = 0; rank < ranks; ++rank) {
        const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
        const std::vector<Chunk> row = table_row(rank, ranks, n);
        Journal wanted;
        for (const Chunk& chunk : row)
            wanted.push_back({.to = right,
                              .from = left,
                              .sent = chunk.size,
                              .received = chunk_of(chunk.number - 1, ranks, n).size});
        const auto r = static_cast<size_t>(rank);
        INFO("the table is in ring_all_reduce.cpp; rank " << rank << " of " << ranks
                                                          << ", " << n << " floats");
        INFO("it called:       " << in_words(seen.journals[r]));
        INFO("and should call: " << in_words(wanted));
        const std::string wrong =
            first_wrong_chunk(seen.journals[r], seen.values[r], row, ranks);
        INFO(wrong);
        const bool is_as_wanted = seen.journals[r] == wanted && wrong.empty();
        REQUIRE(is_as_wanted);
    }
}

TEST_CASE("the ring leaves the sum on every rank", "[lab11][lab11.3]") {
    check_sums(dist::ring_all_reduce, "hint 2 of 11.3 helps");
}

TEST_CASE("the ring knows all operations", "[lab11][lab11.3]") {
    check_operations(dist::ring_all_reduce,
                     "combine_for gives the operation, and finish_reduce divides for an "
                     "average, once; hint 2 of 11.3 helps");
}

TEST_CASE("the ring averages large float16", "[lab11][lab11.3]") {
    check_half_average(dist::ring_all_reduce, "hint 2 of 11.3 helps");
}

TEST_CASE("the ring gives all ranks the same bits", "[lab11][lab11.3]") {
    check_bits(dist::ring_all_reduce, "add up a chunk along the ring, then copy it");
}

TEST_CASE("the ring sends chunks, never the whole buffer", "[lab11][lab11.3]") {
    const int ranks = GENERATE(2, 3, 4, 7, 9);
    const size_t n = GENERATE(64, 1000);
    const Seen seen = summed(dist::ring_all_reduce, ranks, n);
    const size_t whole = n * sizeof(float);
    for (size_t rank = 0; rank < seen.journals.size(); ++rank) {
        const Sent sent = sent_by(seen.journals[rank]);
        INFO("rank " << rank << " of " << ranks << " has " << whole << " bytes, and sent "
                     << sent.bytes << " in " << sent.messages << " messages");
        INFO("2(P-1) messages of a chunk each are less than " << 2 * whole);
        INFO("a ring that sends the whole buffer P-1 times sends "
             << static_cast<size_t>(ranks - 1) * whole << "; hint 1 of 11.3 helps");
        REQUIRE(sent.messages == 2 * (ranks - 1));
        REQUIRE(sent.bytes < 2 * whole);
    }
}

TEST_CASE("the ring takes 2(P-1) turns", "[lab11][lab11.3]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7, 9);
    INFO(counted(ranks, "rank") << "; one send_recv a turn");
    REQUIRE(summed(dist::ring_all_reduce, ranks, 64).turns == 2 * (ranks - 1));
}

TEST_CASE("recursive doubling leaves the sum on every rank", "[lab11][lab11.4]") {
    check_sums(dist::recursive_doubling_all_reduce, "hint 2 of 11.4 helps");
}

TEST_CASE("halving and doubling leave the sum on every rank", "[lab11][lab11.4]") {
    check_sums(dist::halving_doubling_all_reduce, "hint 2 of 11.4 helps");
}

TEST_CASE("recursive doubling, and halving, know all operations", "[lab11][lab11.4]") {
    const Named tried = either_of_11_4();
    check_operations(tried.all_reduce, concat(tried.name, "; hint 2 of 11.4 helps"));
}

TEST_CASE("recursive doubling, and halving, average large float16", "[lab11][lab11.4]") {
    const AllReduce all_reduce = GENERATE(&dist::recursive_doubling_all_reduce,
                                          &dist::halving_doubling_all_reduce);
    check_half_average(all_reduce, "hint 2 of 11.4 helps");
}

TEST_CASE("recursive doubling, and halving, give all ranks the same bits",
          "[lab11][lab11.4]") {
    const Named tried = either_of_11_4();
    check_bits(tried.all_reduce,
               concat("in ", tried.name, " both partners must add the same two sums"));
}

TEST_CASE("partners combine in one order, the lower rank's data first",
          "[lab11][lab11.4]") {
    check_zeros(dist::recursive_doubling_all_reduce);
}

TEST_CASE("recursive doubling sends the whole buffer to log2 P partners",
          "[lab11][lab11.4]") {
    const int ranks = GENERATE(1, 2, 4, 8);
    constexpr size_t kBytes = 5 * sizeof(float);
    const Seen seen = summed(dist::recursive_doubling_all_reduce, ranks, 5);
    for (int rank = 0; rank < ranks; ++rank) {
        Journal wanted;
        for (int bit = 1; bit < ranks; bit *= 2)
            wanted.push_back({.to = rank ^ bit,
                              .from = rank ^ bit,
                              .sent = kBytes,
                              .received = kBytes});
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << " called: " << in_words(journal));
        INFO("and should call: " << in_words(wanted));
        const bool is_as_wanted = journal == wanted;
        REQUIRE(is_as_wanted);
    }
    REQUIRE(seen.turns == rounds_of(ranks));
}

TEST_CASE("halving and doubling send less than 2n bytes in 2 log2 P messages",
          "[lab11][lab11.4]") {
    const int ranks = GENERATE(2, 4, 8);
    constexpr size_t kFloats = 64, kWhole = kFloats * sizeof(float);
    const Seen seen = summed(dist::halving_doubling_all_reduce, ranks, kFloats);
    for (int rank = 0; rank < ranks; ++rank) {
        Journal halving, wanted;
        size_t half = kWhole;
        for (int bit = ranks / 2; bit > 0; bit /= 2) {
            half /= 2;
            halving.push_back(
                {.to = rank ^ bit, .from = rank ^ bit, .sent = half, .received = half});
        }
        wanted = halving;
        wanted.insert(wanted.end(), halving.rbegin(), halving.rend());
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        INFO("rank " << rank << " of " << ranks << " has " << kWhole
                     << " bytes, and called: " << in_words(journal));
        INFO("and should call: " << in_words(wanted) << "; hint 2 of 11.4 helps");
        const bool is_as_wanted = journal == wanted;
        REQUIRE(is_as_wanted);
    }
    REQUIRE(seen.turns == 2 * rounds_of(ranks));
}

// ---- the choice

TEST_CASE("the time of an all-reduce is that of its formula", "[lab11][lab11.5]") {
    // A message costs 10 s, plus 1 s per byte: a message of 80 bytes costs 90 s.
    const struct {
        Algorithm algorithm;
        int ranks;
        double seconds;
        const char* why;
    } rows[] = {
        {Algorithm::kNaive, 4, 500,
         "2 (10 + 3 * 80): rank 0's link carries three buffers"},
        {Algorithm::kNaive, 8, 1140, "2 (10 + 7 * 80)"},
        {Algorithm::kTree, 4, 360, "2 rounds up and 2 down of 90 s"},
        {Algorithm::kTree, 5, 540, "3 rounds up and 3 down of 90 s"},
        {Algorithm::kTree, 8, 540, "3 rounds up and 3 down of 90 s"},
        {Algorithm::kRing, 4, 180, "6 messages of 20 bytes"},
        {Algorithm::kRing, 5, 208, "8 messages of 16 bytes"},
        {Algorithm::kRing, 8, 280, "14 messages of 10 bytes"},
        {Algorithm::kRecursiveDoubling, 4, 180, "2 messages of 80 bytes"},
        {Algorithm::kRecursiveDoubling, 5, 360,
         "2 messages among 4 ranks, and 2 to fold"},
        {Algorithm::kRecursiveDoubling, 8, 270, "3 messages of 80 bytes"},
        {Algorithm::kHalvingDoubling, 4, 160, "2 of 40 bytes, and 2 of 20 bytes"},
        {Algorithm::kHalvingDoubling, 5, 340, "the same among 4 ranks, and 2 to fold"},
        {Algorithm::kHalvingDoubling, 8, 200, "2 each of 40, 20 and 10 bytes"},
    };
    for (const auto& row : rows) {
        const double seconds =
            dist::all_reduce_seconds(row.algorithm, row.ranks, 80, 10, 1);
        INFO(dist::algorithm_name(row.algorithm)
             << " of 80 bytes on " << row.ranks
             << " ranks; alpha is 10 s, beta 1 s a byte");
        INFO("expected is " << row.seconds << ": " << row.why
                            << "; hint 2 of 11.5 helps");
        REQUIRE(seconds == Approx(row.seconds).epsilon(1e-9));
    }
}

TEST_CASE("one rank needs no time; auto and hierarchical have no formula",
          "[lab11][lab11.5]") {
    REQUIRE(dist::all_reduce_seconds(Algorithm::kRing, 2, 80, 10, 1) == 100);
    for (const Algorithm algorithm : dist::kAlgorithmsWithFormula)
        REQUIRE(dist::all_reduce_seconds(algorithm, 1, 80, 10, 1) == 0);
    for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kHierarchical})
        REQUIRE_THROWS_AS(dist::all_reduce_seconds(algorithm, 2, 80, 10, 1), Error);
}

TEST_CASE("the choice is the algorithm with the shortest time", "[lab11][lab11.5]") {
    const struct {
        int ranks;
        size_t bytes;
        Algorithm fastest;
    } rows[] = {
        {4, 8, Algorithm::kRecursiveDoubling},
        {4, 32, Algorithm::kRecursiveDoubling},
        {4, 80, Algorithm::kHalvingDoubling},
        {8, 8, Algorithm::kRecursiveDoubling},
        {8, 8000, Algorithm::kHalvingDoubling},
        {3, 1, Algorithm::kNaive},
        {3, 8, Algorithm::kRing},
        {3, 8000, Algorithm::kRing},
        {7, 1, Algorithm::kNaive},
        {7, 8, Algorithm::kRecursiveDoubling},
        {7, 80000, Algorithm::kRing},
        {9, 1 << 20, Algorithm::kRing},
        {5, 100, Algorithm::kRing},
    };
    for (const auto& row : rows) {
        const Algorithm chosen = dist::fastest_all_reduce(row.ranks, row.bytes, 10, 1);
        std::string times;
        for (const Algorithm algorithm : dist::kAlgorithmsWithFormula)
            times +=
                concat("; ", dist::algorithm_name(algorithm), " ",
                       dist::all_reduce_seconds(algorithm, row.ranks, row.bytes, 10, 1));
        INFO(row.ranks << " ranks, " << counted(row.bytes, "byte")
                       << "; alpha is 10 s, beta 1 s a byte");
        INFO("seconds" << times);
        REQUIRE(std::string(dist::algorithm_name(chosen)) ==
                dist::algorithm_name(row.fastest));
    }
}

TEST_CASE("of equal times the first algorithm of the list is chosen",
          "[lab11][lab11.5]") {
    INFO("on one rank all take 0 s");
    REQUIRE(dist::fastest_all_reduce(1, 80, 10, 1) == Algorithm::kNaive);
    INFO("on 2 ranks an all-reduce without bytes is naive: 20, tree: 20, ring: 20,");
    INFO("recursive doubling: 10, halving and doubling: 20");
    REQUIRE(dist::fastest_all_reduce(2, 0, 10, 1) == Algorithm::kRecursiveDoubling);
}
