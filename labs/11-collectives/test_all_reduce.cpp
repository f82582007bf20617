// The checks of lab 11, tasks 11.3 to 11.5: the ring, halving and doubling, and the choice
// of an algorithm.

#include <cstddef>
#include <string>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "labs/11-collectives/test_support.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/collectives.hpp"

using namespace mini;
using namespace mini::lab11;
using dist::Algorithm;

namespace {

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

// Returns the first step in which a rank of the ring sent another chunk than in the table of
// collectives.hpp, in words; "" if there is none.
std::string first_other_chunk(const Seen& seen, int rank) {
    const auto r = static_cast<size_t>(rank);
    const int ranks = static_cast<int>(seen.values.size());
    const Values& buffer = seen.values[r];
    const auto* const bytes = reinterpret_cast<const std::byte*>(buffer.data());
    for (size_t step = 0; step < seen.journals[r].size(); ++step) {
        const Step& call = seen.journals[r][step];
        const size_t begin = static_cast<size_t>(call.out - bytes);
        if (call.sent == 0 || begin >= buffer.size() * sizeof(float)) continue;
        const Chunk wanted = chunk_of((rank - static_cast<int>(step) +
                                       (static_cast<int>(step) < ranks - 1 ? 0 : ranks)) %
                                          ranks,
                                      ranks, buffer.size());
        for (int k = 0; k < ranks; ++k) {
            const Chunk sent = chunk_of(k, ranks, buffer.size());
            if (sent.begin == begin && sent.size == call.sent && k != wanted.number)
                return concat("step ", step, ": it sent chunk ", k,
                              "; the table says chunk ", wanted.number);
        }
    }
    return "";
}

}  // namespace

TEST_CASE("the ring leaves the sum on every rank", "[lab11][lab11.3]") {
    check_sums(dist::ring_all_reduce, first_other_chunk);
}

TEST_CASE("the ring knows all operations", "[lab11][lab11.3]") {
    check_operations(dist::ring_all_reduce);
}

TEST_CASE("the ring averages large float16", "[lab11][lab11.3]") {
    check_half_average(dist::ring_all_reduce);
}

TEST_CASE("the ring gives all ranks the same bits", "[lab11][lab11.3]") {
    check_bits(dist::ring_all_reduce, "add up a chunk along the ring, then copy it");
}

TEST_CASE("the ring sends chunks, never the whole buffer", "[lab11][lab11.3]") {
    const int ranks = GENERATE(3, 2, 4, 7, 9);
    const size_t n = GENERATE(64, 1000);
    const Seen seen = all_reduced(dist::ring_all_reduce, ranks, integers(n));
    const size_t whole = n * sizeof(float), P = static_cast<size_t>(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        const Journal& journal = seen.journals[static_cast<size_t>(rank)];
        const Sent sent = sent_by(journal);
        INFO("rank " << rank << " of " << ranks << " has " << whole << " bytes, and sent "
                     << sent.bytes << " in " << sent.messages << " messages");
        INFO("2(P-1) messages of a chunk each are less than " << 2 * whole);
        INFO("a ring that sends the whole buffer P-1 times sends "
             << static_cast<size_t>(ranks - 1) * whole);
        REQUIRE(sent.messages == 2 * (ranks - 1));
        REQUIRE(sent.bytes < 2 * whole);
        for (const Step& step : journal) {
            INFO("it called: " << in_words(journal) << "; each call is a send_recv to");
            INFO("one neighbour and from the other, the same two in all calls");
            REQUIRE((step.to == journal[0].to && step.from == journal[0].from));
            INFO("the longest message has n/P floats, rounded up");
            REQUIRE(step.sent <= (n + P - 1) / P * sizeof(float));
        }
    }
}

TEST_CASE("the ring sends empty chunks like others", "[lab11][lab11.3]") {
    const size_t n = GENERATE(0, 1, 2);
    const Seen seen = all_reduced(dist::ring_all_reduce, 3, integers(n));
    for (const Journal& journal : seen.journals) {
        INFO(n << " floats on 3 ranks; a rank called: " << in_words(journal));
        REQUIRE(sent_by(journal).messages == 4);
    }
}

TEST_CASE("the ring takes 2(P-1) turns", "[lab11][lab11.3]") {
    const int ranks = GENERATE(3, 1, 2, 4, 7, 9);
    INFO(counted(ranks, "rank") << "; one send_recv a turn");
    REQUIRE(all_reduced(dist::ring_all_reduce, ranks, integers(64)).turns ==
            2 * (ranks - 1));
}

TEST_CASE("halving and doubling leave the sum on every rank", "[lab11][lab11.4]") {
    check_sums(dist::halving_doubling_all_reduce);
}

TEST_CASE("halving and doubling know all operations", "[lab11][lab11.4]") {
    check_operations(dist::halving_doubling_all_reduce);
}

TEST_CASE("halving and doubling average large float16", "[lab11][lab11.4]") {
    check_half_average(dist::halving_doubling_all_reduce);
}

TEST_CASE("halving and doubling give all ranks the same bits", "[lab11][lab11.4]") {
    check_bits(dist::halving_doubling_all_reduce, "one rank finishes an element");
}

TEST_CASE("halving and doubling send less than 2n bytes in 2 log2 P messages",
          "[lab11][lab11.4]") {
    const int ranks = GENERATE(4, 2, 8);
    constexpr size_t kFloats = 64, kWhole = kFloats * sizeof(float);
    const Seen seen =
        all_reduced(dist::halving_doubling_all_reduce, ranks, integers(kFloats));
    for (size_t rank = 0; rank < seen.journals.size(); ++rank) {
        const auto P = static_cast<size_t>(ranks);
        const Journal& journal = seen.journals[rank];
        INFO("rank " << rank << " of " << ranks << " has " << kWhole
                     << " bytes, and called: " << in_words(journal));
        INFO("first n/2 bytes, then n/4, ...; and back");
        REQUIRE(sent_by(journal) == Sent{2 * rounds_of(ranks), 2 * (P - 1) * kWhole / P});
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
        {Algorithm::kRing, 3, 440 / 3.0, "4 messages of 80/3 bytes"},
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
        INFO("expected is " << row.seconds << ": " << row.why);
        REQUIRE(seconds == Approx(row.seconds).epsilon(1e-9));
    }
}

TEST_CASE("one rank needs no time; auto and hierarchical have no formula",
          "[lab11][lab11.5]") {
    REQUIRE(dist::all_reduce_seconds(Algorithm::kRing, 2, 80, 10, 1) == Approx(100));
    for (const Algorithm algorithm :
         {Algorithm::kNaive, Algorithm::kTree, Algorithm::kRing,
          Algorithm::kRecursiveDoubling, Algorithm::kHalvingDoubling, Algorithm::kAuto})
        REQUIRE(dist::all_reduce_seconds(algorithm, 1, 80, 10, 1) == 0);
    for (const Algorithm algorithm :
         {Algorithm::kAuto, Algorithm::kHierarchical, Algorithm::kSharedMemory})
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
