// The all-reduces of collectives/ on the simulated cluster: their sums and costs, on more
// ranks than a machine can run.

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/transport/subset_transport.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/tensor/tensor.hpp"
#include "tests/distributed/suite/costs.hpp"
#include "tests/support/catch.hpp"

namespace mini::dist {
namespace {

using suite::all_reduce_cost;
using suite::Cost;
using Seconds = std::chrono::duration<double>;

constexpr const char* kEqualLinks = "100Gbit,10us";
constexpr double kAlpha = 10e-6;      // seconds per message
constexpr double kBeta = 1 / 12.5e9;  // seconds per byte

const std::vector<Algorithm> kAlgorithms = {
    Algorithm::kNaive, Algorithm::kTree, Algorithm::kRing, Algorithm::kRecursiveDoubling,
    Algorithm::kHalvingDoubling};

// Runs an all-reduce as a process group runs it.
void all_reduce(Transport& transport, const Tensor& data, Algorithm algorithm,
                const std::vector<int>& hosts) {
    run_over(
        transport,
        {.operation = Operation::kAllReduce, .outputs = {data}, .algorithm = algorithm},
        hosts);
}

// Returns a number whose sum over ranks depends on the order of the additions.
float share(int rank, size_t i) {
    return std::sin(static_cast<float>(rank) * 1.7f + static_cast<float>(i)) * 1e3f;
}

// Runs an all-reduce of `n` floats on P ranks. Checks that all ranks have bitwise
// identical results, which are close to the sums in double precision.
ClusterReport check_sums(int P, size_t n, Algorithm algorithm,
                         const std::string& links = kEqualLinks) {
    const ClusterOptions options{.world_size = P, .links = parse_links(links)};
    const auto hosts = hosts_of(options.links, P);
    std::vector<std::vector<float>> results(static_cast<size_t>(P));
    const auto report = run_cluster(options, [&](Transport& transport) {
        std::vector<float> values;
        for (size_t i = 0; i < n; ++i) values.push_back(share(transport.rank(), i));
        const Tensor data = Tensor::from(values);
        all_reduce(transport, data, algorithm, hosts);
        results[static_cast<size_t>(transport.rank())] = data.to_vector<float>();
    });

    bool are_equal = true;
    for (const auto& result : results) are_equal = are_equal && result == results[0];
    CHECK(are_equal);
    CHECK(results[0].size() == n);

    // The rounding error of each of the P - 1 additions is at most half a unit in the
    // last place of a partial sum, and a partial sum is at most P * 1e3.
    const double tolerance = P * 1e3 * (P - 1) * 0x1p-24;
    bool are_near = true;
    for (size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int rank = 0; rank < P; ++rank) sum += share(rank, i);
        are_near = are_near && std::abs(results[0][i] - sum) <= tolerance;
    }
    CHECK(are_near);
    CHECK(report.messages_left == 0);
    return report;
}

// Runs an all-reduce without payload, so that all ranks can share one tensor. Returns the
// times and counts.
ClusterReport run_without_payload(int P, size_t bytes, Algorithm algorithm,
                                  const std::string& links = kEqualLinks) {
    ClusterOptions options{.world_size = P, .links = parse_links(links)};
    options.has_payload = false;
    const auto hosts = hosts_of(options.links, P);
    const Tensor data = Tensor::zeros({static_cast<int64_t>(bytes / sizeof(float))});
    return run_cluster(options, [&](Transport& transport) {
        all_reduce(transport, data, algorithm, hosts);
    });
}

void check_costs(const ClusterReport& report, int P, size_t n, Algorithm algorithm) {
    for (int rank = 0; rank < P; ++rank) {
        const Cost cost = all_reduce_cost(
            algorithm,
            {.n = static_cast<int64_t>(n), .each = sizeof(float), .P = P, .rank = rank});
        const Traffic& sent = report.sent[static_cast<size_t>(rank)];
        CAPTURE(rank);
        REQUIRE(sent == Traffic{cost.messages, cost.bytes});
    }
}

double seconds_by_formula(Algorithm algorithm, int P, size_t bytes) {
    return all_reduce_seconds(algorithm, P, bytes, kAlpha, kBeta);
}

void check_time(const ClusterReport& report, double expected) {
    const double seconds = Seconds(report.time).count();
    CAPTURE(seconds, expected);
    CHECK(std::abs(seconds - expected) <= 0.01 * expected);
}

TEST_CASE(
    "on 2 to 64 ranks every all-reduce is right and sends the bytes of its formula") {
    const Algorithm algorithm = GENERATE(from_range(kAlgorithms));
    CAPTURE(algorithm_name(algorithm));
    for (int P = 2; P <= 64; ++P) {
        const size_t n = static_cast<size_t>(P % 3 == 0 ? 5 : 3 * P + 1);
        CAPTURE(P, n);
        check_costs(check_sums(P, n, algorithm), P, n, algorithm);
    }
}

TEST_CASE(
    "every all-reduce is right on one rank, without elements, and with one element") {
    for (const Algorithm algorithm : kAlgorithms) {
        CAPTURE(algorithm_name(algorithm));
        CHECK(check_sums(1, 5, algorithm).time == VirtualTime(0));
        check_sums(3, 0, algorithm);
        check_sums(7, 1, algorithm);
    }
}

TEST_CASE(
    "on 256 and 1,024 ranks all-reduces are right and send the bytes of their formulas",
    "[large]") {
    for (const Algorithm algorithm : {Algorithm::kTree, Algorithm::kRecursiveDoubling,
                                      Algorithm::kHalvingDoubling, Algorithm::kRing}) {
        const int P = algorithm == Algorithm::kRing ? 256 : 1024;
        CAPTURE(P, algorithm_name(algorithm));
        check_costs(check_sums(P, 64, algorithm), P, 64, algorithm);
    }
}

TEST_CASE("the virtual time of each all-reduce agrees with its alpha-beta formula",
          "[large]") {
    const size_t bytes = GENERATE(64, 1 << 20);
    for (const int P : {2, 4, 8, 16, 32, 64})
        for (const Algorithm algorithm : kAlgorithms) {
            CAPTURE(P, bytes, algorithm_name(algorithm));
            if (bytes < 1 << 20 && P > 16 && algorithm == Algorithm::kRing) continue;
            check_time(run_without_payload(P, bytes, algorithm),
                       seconds_by_formula(algorithm, P, bytes));
        }
}

TEST_CASE("the ring's time agrees with its formula on any number of ranks", "[large]") {
    for (int P = 2; P <= 64; ++P) {
        CAPTURE(P);
        const size_t bytes = static_cast<size_t>(P) * 4096;
        check_time(run_without_payload(P, bytes, Algorithm::kRing),
                   seconds_by_formula(Algorithm::kRing, P, bytes));
    }
}

// If P is not a power of two, the algorithms send two more messages of the whole buffer.
// The first of these may queue at a port, behind another rank's first message.
TEST_CASE(
    "ranks beyond a power of two add at most the time of two messages and one queue",
    "[large]") {
    constexpr size_t kBytes = 1 << 15;
    const double whole = kAlpha + kBytes * kBeta;
    for (const Algorithm algorithm :
         {Algorithm::kRecursiveDoubling, Algorithm::kHalvingDoubling})
        for (int P = 3; P <= 64; ++P) {
            const int Q = static_cast<int>(std::bit_floor(static_cast<unsigned>(P)));
            if (P == Q) continue;
            const double folded = seconds_by_formula(algorithm, Q, kBytes);
            const double seconds =
                Seconds(run_without_payload(P, kBytes, algorithm).time).count();
            CAPTURE(P, algorithm_name(algorithm), seconds, folded, whole);
            CHECK(seconds >= folded);
            CHECK(seconds <= 1.01 * (folded + 2 * whole + kBytes * kBeta));
        }
}

TEST_CASE(
    "a hierarchical all-reduce is right, and faster than a ring that crosses hosts") {
    const std::string links = "25Gbit,10us; hosts of 8: 800Gbit,1us";
    for (const int P : {1, 7, 8, 9, 16, 24, 61, 256}) {
        CAPTURE(P);
        check_sums(P, 100, Algorithm::kHierarchical, links);
    }
    // If ranks are assigned to the hosts in turn, each hop of the flat ring crosses the
    // network, and eight ranks share each host's link.
    constexpr size_t kBytes = 8 << 20;
    ClusterOptions options{.world_size = 64, .links = parse_links(links)};
    options.has_payload = false;
    std::vector<float> data(kBytes / sizeof(float));
    const auto scattered = run_cluster(options, [&](Transport& transport) {
        std::vector<int> in_turn;
        for (int i = 0; i < 64; ++i) in_turn.push_back(i % 8 * 8 + i / 8);
        SubsetTransport dealt(transport, in_turn);
        ring_all_reduce(dealt, Elements(std::span(data)), ReduceOp::kSum);
    });
    const auto hierarchical =
        run_without_payload(64, kBytes, Algorithm::kHierarchical, links);
    CHECK(hierarchical.time * 4 < scattered.time);
}

TEST_CASE("one slow rank slows down the whole ring") {
    const auto even = run_without_payload(16, 16 << 20, Algorithm::kRing);
    const auto slowed = run_without_payload(
        16, 16 << 20, Algorithm::kRing, std::string(kEqualLinks) + "; rank 5 at 0.25");
    CHECK(slowed.time > 3.5 * even.time);
    CHECK(slowed.time < 4 * even.time);
}

TEST_CASE("a thousand ranks without payload can share one buffer", "[large]") {
    constexpr size_t kBytes = 1 << 20;
    const auto check = [&](int P, Algorithm algorithm) {
        const auto report = run_without_payload(P, kBytes, algorithm);
        check_costs(report, P, kBytes / sizeof(float), algorithm);
        check_time(report, seconds_by_formula(algorithm, P, kBytes));
    };
    check(1024, Algorithm::kHalvingDoubling);
    check(256, Algorithm::kRing);  // 131,000 messages
}

}  // namespace
}  // namespace mini::dist
