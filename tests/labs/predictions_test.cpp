// The predictions of lab 20, beyond what the lab's own checks show, and its program's files.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "labs/20-scaling-by-simulation/all_reduce_on_links.hpp"
#include "labs/20-scaling-by-simulation/reports.hpp"
#include "labs/20-scaling-by-simulation/stragglers.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/tensor/tensor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace mini::lab20 {
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

TEST_CASE("a ring of 256 ranks with a slow rank takes the predicted time", "[large]") {
    const auto links = dist::parse_links("100Gbit,10us; rank 9 at 0.5");
    check_near(ring_seconds(links, 256, 1 << 20),
               simulated(links, Algorithm::kRing, 256, 1 << 20), 1e-6);
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

TEST_CASE("trees and hierarchical all-reduces take the simulated time") {
    const auto links = dist::parse_links("25Gbit,10us; hosts of 8: 800Gbit,1us");
    for (const Algorithm algorithm : {Algorithm::kTree, Algorithm::kHierarchical})
        for (const int P : {1, 4, 8, 16, 1024}) {
            CAPTURE(P, dist::algorithm_name(algorithm));
            check_near(hosts_seconds(algorithm, links, P, 1 << 16),
                       simulated(links, algorithm, P, 1 << 16), 0.01);
        }
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

TEST_CASE("the k-th smallest of n draws agrees with draws from a random generator",
          "[large]") {
    std::mt19937_64 random(1);
    const std::vector<double> times{3, 1, 4, 1, 5, 9, 2, 6};
    constexpr int kRounds = 40000;
    for (const auto& [k, n] : {std::pair{1, 3}, {3, 4}, {4, 4}, {7, 8}}) {
        double sum = 0;
        for (int round = 0; round < kRounds; ++round) {
            std::vector<double> draws;
            for (int i = 0; i < n; ++i) draws.push_back(times[random() % times.size()]);
            std::ranges::sort(draws);
            sum += draws[static_cast<size_t>(k - 1)];
        }
        // The standard error is below 9 / sqrt(40000) / 2; allow six of them.
        CAPTURE(k, n);
        CHECK(std::abs(expected_kth(times, k, n) - sum / kRounds) < 6 * 9 / 200.0 / 2);
    }
}

TEST_CASE("draws from no times, or from one, and events that never or always occur") {
    CHECK_THROWS_AS(expected_maximum({}, 2), UsageError);
    CHECK(expected_maximum(std::vector{7.0}, 5) == 7.0);
    CHECK(at_least(1, 4, 0.0) == 0.0);
    CHECK(at_least(4, 4, 1.0) == 1.0);
    CHECK(std::abs(at_least(2048, 4096, 0.5) - 0.5) < 0.01);
}

// ---- predict_step

std::string written(const test::Folder& folder, const std::string& name,
                    const std::string& text) {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    return path;
}

bool is(double seconds, double milliseconds) {
    return std::abs(seconds * 1e3 - milliseconds) < 1e-6;
}

// alpha = 1 ms and beta = 1 us: on 2 ranks 1,000 bytes take one message of 2 ms, and
// 20,000 bytes, a ring, two messages of 11 ms.
constexpr const char* kBench = R"({"ranks": 2, "rows": [
    {"size": 1000, "time_us": 2000}, {"size": 20000, "time_us": 22000}]})";

// Two steps of 13 ms in all, 3 ms of which are neither forward nor backward.
constexpr const char* kRun = R"({"seconds_per_epoch": [0.026], "statistics": {
    "iterations": 2, "forward_s": 0.004, "backward_s": 0.006,
    "compute_s": [0.008, 0.012],
    "gradients": [{"bytes": 1000, "ready_s": 0.001},
                  {"bytes": 2000, "ready_s": 0.006}]}})";

TEST_CASE(
    "predict_step: the bench's rows are fitted as messages and bytes of their "
    "algorithms") {
    const test::Folder folder;
    const auto link = fit_bench(written(folder, "bench.json", kBench));
    CHECK(is(link.fit.alpha, 1));
    CHECK(is(link.fit.beta * 1e3, 1));
    CHECK(link.largest_error < 1e-9);
    CHECK(is(all_reduce_seconds(link.fit, 2, 1000), 2));
    CHECK(is(all_reduce_seconds(link.fit, 4, 1000), 4));
    CHECK(is(all_reduce_seconds(link.fit, 4, 20000), 6 * (1 + 5)));
}

TEST_CASE("predict_step: a step is predicted from the parts, for each way to exchange") {
    const test::Folder folder;
    const std::string run = written(folder, "run.json", kRun);
    const auto rank = read_computation({run, run});
    CHECK(is(rank.step(), 13));
    CHECK(is(rank.others, 3));
    const auto rows = predict(rank, 2, {{0}, {1}}, [](int64_t bytes) {
        return all_reduce_seconds({.alpha = 1e-3, .beta = 1e-6}, 2, bytes);
    });
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].sync == "none");
    CHECK(is(rows[0].step, 13));
    // The slower of two ranks takes 11 ms on average, 1 ms more than one rank.
    CHECK(rows[1].sync == "average");
    CHECK(is(rows[1].step, 13 + 1 + 2 + 3));
    CHECK(rows[2].sync == "flat");
    CHECK(is(rows[2].step, 13 + 1 + 4));
    // Two buckets: one from 1 to 3 ms, within backward, and one from 6 to 9 ms.
    CHECK(rows[3].sync == "ddp");
    CHECK(is(rows[3].step, 3 + 4 + 1 + 9));
    CHECK(std::abs(rows[3].hidden - 2.0 / 5) < 1e-9);
}

TEST_CASE("predict_step: a file that is missing or not a report is named") {
    const test::Folder folder;
    CHECK_THROWS_AS(fit_bench(folder / "none.json"), BadFile);
    CHECK_THROWS_AS(fit_bench(written(folder, "a.json", "{}")), BadFile);
    CHECK_THROWS_AS(read_computation({written(folder, "b.json", "no JSON")}), BadFile);
    CHECK_THROWS_AS(read_computation({}), UsageError);
}

}  // namespace
}  // namespace mini::lab20
