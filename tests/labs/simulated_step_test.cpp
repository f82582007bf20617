// One simulated step of DistributedDataParallel: models, buckets, and times computed by
// hand.

#include "labs/20-scaling-by-simulation/simulated_step.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "labs/11-collectives/all_reduce_time.hpp"
#include "labs/20-scaling-by-simulation/published_models.hpp"
#include "labs/20-scaling-by-simulation/step_profile.hpp"
#include "tests/support/catch.hpp"

using namespace mini;

namespace {

constexpr double kTolerance = 1e-9;  // seconds; events are rounded to picoseconds

// Returns a cluster with ring all-reduce and links of 1 GB/s with a delay of 1 ms.
lab20::StepCluster cluster_of(int ranks) {
    lab20::StepCluster cluster;
    cluster.ranks = ranks;
    cluster.links = dist::parse_links("8Gbit,1ms");
    cluster.algorithm = dist::Algorithm::kRing;
    return cluster;
}

// Forward takes 10 ms and backward 20 ms. Of the gradients, 4 MB are ready 5 ms after the
// start of backward, and 8 MB at its end.
const std::vector<lab20::StepBucket> kTwoBuckets{{4'000'000, 0.005}, {8'000'000, 0.020}};
const lab20::StepProfile kTwoGradients{
    .forward = 0.010,
    .backward = 0.020,
    .gradients = {{4'000'000, 0.005}, {8'000'000, 0.020}}};

TEST_CASE("published models have their published numbers of parameters and tensors") {
    struct Published {
        const char* name;
        int64_t parameters;
        size_t tensors;
    };
    for (const Published& published :
         {Published{"convnet", 21'840, 8}, Published{"resnet18", 11'689'512, 62},
          Published{"resnet50", 25'557'032, 161}, Published{"bert", 109'482'240, 199},
          Published{"bert-large", 335'141'888, 391}}) {
        CAPTURE(published.name);
        const auto parameters = lab20::published_model(published.name);
        int64_t all = 0;
        for (const lab20::ModelParameter& parameter : parameters) all += parameter.numel;
        CHECK(all == published.parameters);
        CHECK(parameters.size() == published.tensors);
    }
}

TEST_CASE("ResNet-50 has the published 4.09 billion multiply-adds per image") {
    double all = 0;
    for (const auto& parameter : lab20::published_model("resnet50"))
        all += parameter.cost;
    CHECK(std::abs(all - 4.09e9) < 0.01 * 4.09e9);  // batch norm adds half a percent
}

TEST_CASE(
    "backward takes time in proportion to cost from the last parameter to the first") {
    const auto profile = lab20::profile_of(
        {{"first", 10, 100.0}, {"second", 20, 200.0}, {"third", 30, 100.0}}, 1.0, 8.0);
    REQUIRE(profile.gradients.size() == 3);
    CHECK(profile.gradients[0].bytes == 120);
    CHECK(profile.gradients[0].ready == 2.0);
    CHECK(profile.gradients[1].bytes == 80);
    CHECK(profile.gradients[1].ready == 6.0);
    CHECK(profile.gradients[2].bytes == 40);
    CHECK(profile.gradients[2].ready == 8.0);
}

TEST_CASE(
    "buckets close at their size but the first at 1 MiB and size 0 separates gradients") {
    constexpr int64_t kMib = 1 << 20;
    lab20::StepProfile profile;
    for (int i = 0; i < 6; ++i) profile.gradients.push_back({kMib / 2, 0.1 * (i + 1)});
    const auto bytes_of = [&](double cap_mb) {
        std::vector<int64_t> bytes;
        for (const auto& bucket : lab20::buckets_of(profile, cap_mb))
            bytes.push_back(bucket.bytes);
        return bytes;
    };
    CHECK(bytes_of(25) == std::vector<int64_t>{kMib, 2 * kMib});
    CHECK(bytes_of(1) == std::vector<int64_t>(3, kMib));
    CHECK(bytes_of(0) == std::vector<int64_t>(6, kMib / 2));
    CHECK(lab20::buckets_of(profile, 25)[0].ready == 0.2);  // its last gradient's time
}

TEST_CASE("a step of one rank is computation without communication") {
    const auto times = lab20::simulate_step(kTwoGradients, kTwoBuckets, cluster_of(1));
    CHECK(std::abs(times.step - 0.030) < kTolerance);
    CHECK(times.communication == 0);
    CHECK(times.exposed == 0);
    CHECK(times.algorithms.empty());
}

// A ring of two ranks sends half of a bucket twice: 2 x (2 ms + 1 ms) = 6 ms for 4 MB,
// and 2 x (4 ms + 1 ms) = 10 ms for 8 MB.
TEST_CASE("the steps of two ranks with two buckets take the times computed by hand") {
    auto cluster = cluster_of(2);
    // Bucket 0 is reduced from 15 to 21 ms, bucket 1 from 30 to 40 ms.
    const auto hidden = lab20::simulate_step(kTwoGradients, kTwoBuckets, cluster);
    CHECK(std::abs(hidden.step - 0.040) < kTolerance);
    CHECK(std::abs(hidden.communication - 0.016) < kTolerance);
    CHECK(std::abs(hidden.exposed - 0.010) < kTolerance);

    // Bucket 1 is ready at 17 ms, and waits for bucket 0 until 21 ms.
    const auto early = lab20::simulate_step(
        kTwoGradients, {{4'000'000, 0.005}, {8'000'000, 0.007}}, cluster);
    CHECK(std::abs(early.step - 0.031) < kTolerance);

    cluster.overlaps = false;  // bucket 0 from 30 to 36 ms, bucket 1 from 36 to 46 ms
    const auto shown = lab20::simulate_step(kTwoGradients, kTwoBuckets, cluster);
    CHECK(std::abs(shown.step - 0.046) < kTolerance);
    CHECK(std::abs(shown.exposed - 0.016) < kTolerance);
}

TEST_CASE(
    "a step whose bucket is ready at the end of backward takes the formula's time") {
    const int ranks = GENERATE(2, 4, 8);
    auto cluster = cluster_of(ranks);
    cluster.algorithm = GENERATE(dist::Algorithm::kRing, dist::Algorithm::kTree,
                                 dist::Algorithm::kHalvingDoubling);
    const double formula =
        dist::all_reduce_seconds(cluster.algorithm, ranks, 12'000'000, 1e-3, 1e-9);
    const auto times =
        lab20::simulate_step(kTwoGradients, {{12'000'000, 0.020}}, cluster);
    CHECK(std::abs(times.step - 0.030 - formula) < 1e-6);
    CHECK(std::abs(times.communication - formula) < 1e-6);
}

}  // namespace
