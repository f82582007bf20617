#include "libmini/extras/scaling/all_reduce_on_links.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/distributed/collectives/all_reduce_time.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/tensor/tensor.hpp"
#include "tests/support/catch.hpp"

namespace mini::scaling {
namespace {

using dist::Algorithm;

double simulated(const dist::Links& links, Algorithm algorithm, int P, size_t bytes) {
    dist::ClusterOptions options{.world_size = P, .links = links};
    options.has_payload = false;
    const auto hosts = dist::hosts_of(links, P);
    const dist::Call call{
        .operation = dist::Operation::kAllReduce,
        .outputs = {Tensor::zeros({static_cast<int64_t>(bytes / sizeof(float))})},
        .algorithm = algorithm};
    return dist::seconds_of(dist::run_cluster(options, [&](dist::Transport& transport) {
                                dist::run_over(transport, call, hosts);
                            }).time);
}

void check_near(double predicted, double expected, double relative) {
    CAPTURE(predicted, expected);
    CHECK(std::abs(predicted - expected) <= relative * expected);
}

TEST_CASE(
    "the ring's times step by step are those of the simulated cluster on any links") {
    const std::string text = GENERATE("100Gbit,10us", "100Gbit,10us; rank 0 at 0.25",
                                      "10Gbit,20us; hosts of 4: 400Gbit,1us",
                                      "10Gbit,20us; hosts of 3: 400Gbit,1us",
                                      "1Gbit,1us; hosts of 2: 1000Gbit,60us");
    const auto links = dist::parse_links(text);
    for (const int P : {1, 2, 3, 4, 7, 8, 13, 32})
        for (const size_t bytes : {size_t{0}, size_t{4}, size_t{4000}, size_t{1} << 18}) {
            CAPTURE(text, P, bytes);
            check_near(ring_seconds(links, P, bytes),
                       simulated(links, Algorithm::kRing, P, bytes), 1e-6);
        }
}

TEST_CASE("a ring of 1,024 ranks with a slow rank takes the predicted time", "[large]") {
    const auto links = dist::parse_links("100Gbit,10us; rank 9 at 0.5");
    check_near(ring_seconds(links, 1024, 1 << 20),
               simulated(links, Algorithm::kRing, 1024, 1 << 20), 1e-6);
}

TEST_CASE("trees and hierarchical all-reduces on hosts take the predicted times") {
    const auto links = dist::parse_links("25Gbit,10us; hosts of 8: 800Gbit,1us");
    for (const int P : {1, 4, 8, 16, 64, 256})
        for (const size_t bytes : {size_t{64}, size_t{1} << 20})
            for (const Algorithm algorithm :
                 {Algorithm::kTree, Algorithm::kHierarchical}) {
                CAPTURE(P, bytes, dist::algorithm_name(algorithm));
                check_near(all_reduce_seconds_on(links, algorithm, P, bytes),
                           simulated(links, algorithm, P, bytes), 0.01);
            }
}

TEST_CASE(
    "a tree on a number of ranks that is no power of two takes less than predicted") {
    const auto links = dist::parse_links("25Gbit,10us; hosts of 8: 800Gbit,1us");
    for (const int P : {3, 5, 7, 9, 12, 20, 24, 40, 65})
        for (const size_t bytes : {size_t{64}, size_t{1} << 20})
            for (const Algorithm algorithm :
                 {Algorithm::kTree, Algorithm::kHierarchical}) {
                CAPTURE(P, bytes, dist::algorithm_name(algorithm));
                CHECK(simulated(links, algorithm, P, bytes) <=
                      1.01 * all_reduce_seconds_on(links, algorithm, P, bytes));
            }
    const auto threes = dist::parse_links("25Gbit,10us; hosts of 3: 800Gbit,1us");
    for (const int P : {3, 6, 8, 15})
        CHECK(simulated(threes, Algorithm::kHierarchical, P, 64) <=
              1.01 * all_reduce_seconds_on(threes, Algorithm::kHierarchical, P, 64));
}

TEST_CASE("on equal links the times are those of the formulas") {
    const auto links = dist::parse_links("100Gbit,10us");
    for (const Algorithm algorithm : dist::kAlgorithmsWithFormula)
        for (const int P : {1, 2, 3, 4, 7, 8}) {
            CAPTURE(P, dist::algorithm_name(algorithm));
            check_near(all_reduce_seconds_on(links, algorithm, P, 84 << 10),
                       dist::all_reduce_seconds(algorithm, P, 84 << 10, 10e-6, 8e-11),
                       1e-3);
        }
}

TEST_CASE("links for which there is no formula are rejected") {
    const auto hosts = dist::parse_links("25Gbit,10us; hosts of 3: 800Gbit,1us");
    const auto slow = dist::parse_links("25Gbit,10us; rank 1 at 0.5");
    CHECK_THROWS_AS(all_reduce_seconds_on(hosts, Algorithm::kTree, 6, 64), UsageError);
    CHECK_THROWS_AS(all_reduce_seconds_on(hosts, Algorithm::kRecursiveDoubling, 6, 64),
                    UsageError);
    CHECK_THROWS_AS(all_reduce_seconds_on(slow, Algorithm::kHierarchical, 6, 64),
                    UsageError);
    CHECK_THROWS_AS(all_reduce_seconds_on(slow, Algorithm::kTree, 6, 64), UsageError);
}

}  // namespace
}  // namespace mini::scaling
