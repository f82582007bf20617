// The checks of lab 20, task 20.3: predicted times of all-reduces, beside those of the
// simulated cluster.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "labs/20-scaling-by-simulation/all_reduce_on_links.hpp"
#include "labs/check/both_values.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/tensor/tensor.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using dist::Algorithm;

namespace {

constexpr double kMicroseconds = 1e6;

// The virtual time of an all-reduce without payload, in us.
double simulated(const dist::Links& links, Algorithm algorithm, int P, size_t bytes) {
    dist::ClusterOptions options{.world_size = P, .links = links};
    options.has_payload = false;
    const auto hosts = dist::hosts_of(links, P);
    const dist::Call call{
        .operation = dist::Operation::kAllReduce,
        .outputs = {Tensor::zeros({static_cast<int64_t>(bytes / sizeof(float))})},
        .algorithm = algorithm};
    const auto report = dist::run_cluster(options, [&](dist::Transport& transport) {
        dist::run_over(transport, call, hosts);
    });
    return dist::seconds_of(report.time) * kMicroseconds;
}

void check_near(double predicted, double expected, const std::string& hint) {
    INFO("predicted " << predicted << " us, should be " << expected << " us; " << hint);
    REQUIRE(predicted == labs::about(expected, 0.01 * expected));
}

double ring_us(const std::string& links, int P, size_t bytes) {
    return lab20::ring_seconds(dist::parse_links(links), P, bytes) * kMicroseconds;
}

}  // namespace

TEST_CASE("a ring on equal links takes the time of lab 11's formula",
          "[lab20][lab20.3]") {
    for (const int P : {2, 3, 4, 7, 8, 1024})
        for (const size_t each : {4, 4000}) {
            const size_t bytes = each * static_cast<size_t>(P);
            INFO(P << " ranks, " << bytes << " bytes, 100 Gbit/s and 10 us");
            const double formula =
                dist::all_reduce_seconds(Algorithm::kRing, P, bytes, 10e-6, 8e-11);
            check_near(ring_us("100Gbit,10us", P, bytes), formula * kMicroseconds,
                       "2 (P-1) steps of alpha + n/P beta");
        }
}

TEST_CASE("a ring on two hosts by hand: each rank waits for its left neighbour",
          "[lab20][lab20.3]") {
    INFO("4 ranks, hosts of 2: 4,000 bytes at 8 Mbit/s are chunks of 1,000 us between");
    INFO("the hosts, with 100 us of delay; inside a host 8 us and 1 us. Of 6 steps each");
    INFO("rank sends one message a step; the slow hops follow each other all the time");
    // The slow ports are busy for all 6 steps; then the last message still travels.
    const std::string links = "8Mbit,100us; hosts of 2: 1000Mbit,1us";
    check_near(ring_us(links, 4, 4000),
               simulated(dist::parse_links(links), Algorithm::kRing, 4, 4000),
               "hint 2 of 20.3 helps");
}

TEST_CASE("a ring on hosts and with slow ranks takes the simulated time",
          "[lab20][lab20.3]") {
    const std::string links =
        GENERATE("100Gbit,10us; rank 0 at 0.25", "10Gbit,20us; hosts of 4: 400Gbit,1us",
                 "10Gbit,20us; hosts of 3: 400Gbit,1us",
                 "1Gbit,1us; hosts of 2: 1000Gbit,60us", "8Mbit,1us; rank 0 at 0.25");
    for (const int P : {1, 2, 3, 7, 8, 13})
        for (const size_t bytes : {0, 4, 20, 40, 4000, 1 << 18}) {
            INFO(links << "; " << P << " ranks, " << bytes << " bytes");
            check_near(
                ring_us(links, P, bytes),
                simulated(dist::parse_links(links), Algorithm::kRing, P, bytes),
                "a rank goes on when its own message has left AND its left neighbour's "
                "has arrived, both by the times of the step before; each message by "
                "the size of its own chunk");
        }
}
