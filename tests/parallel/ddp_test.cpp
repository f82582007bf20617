#include "libmini/parallel/ddp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DDPOptions;
using parallel::DistributedDataParallel;

namespace {

using Values = std::vector<float>;

// One bucket per parameter, so that the launch order is visible.
const DDPOptions kBucketEach{.first_bucket_bytes = 1, .bucket_cap_mb = parallel::mib(1)};

int64_t count(const std::vector<Event>& events, EventKind kind) {
    return std::ranges::count(events, kind, &Event::kind);
}

}  // namespace

TEST_CASE("buckets are filled from the last parameter on and the first bucket is small") {
    const auto buckets = on_ranks(2, [](dist::ProcessGroup&) {
        Toy module;  // 60, 20, 40 and 8 bytes
        const DistributedDataParallel ddp(
            module, {.first_bucket_bytes = 8, .bucket_cap_mb = parallel::mib(40)});
        return assignment(ddp);
    });
    CHECK(buckets[0] == std::vector<std::vector<size_t>>{{3}, {2}, {1, 0}});
    CHECK(buckets[1] == buckets[0]);
}

TEST_CASE("evaluation without gradients does not communicate") {
    const auto collectives = on_ranks(2, [](dist::ProcessGroup& group) {
        Toy module;
        DistributedDataParallel ddp(module);
        group.events().clear();
        const NoGradGuard no_grad;
        ddp(draw({2, 3}, 1));
        return count(group.events().snapshot(), EventKind::kCollectiveBegin);
    });
    CHECK(collectives == std::vector<int64_t>{0, 0});
}

namespace {

// Uses one weight twice, and has a frozen parameter.
class SharedWeight : public nn::Module {
  public:
    SharedWeight() {
        register_parameter("weight", weight);
        register_parameter("again", weight);
        register_parameter("frozen", frozen);
        frozen.set_requires_grad(false);
    }
    Tensor forward(const Tensor& x) override { return x * weight * weight + frozen; }

    Tensor weight = Tensor::full({1}, 3.0);
    Tensor frozen = Tensor::full({1}, 5.0);
};

}  // namespace

TEST_CASE("a shared weight is averaged once and a frozen parameter is not averaged") {
    struct Seen {
        float gradient = 0;
        bool frozen_has_gradient = true;
        float frozen = 0;
        int64_t collectives = 0;
    };
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        SharedWeight module;
        ops::fill_(module.frozen, static_cast<float>(group.rank() + 7));
        DistributedDataParallel ddp(module, kBucketEach);
        group.events().clear();
        sum(ddp(Tensor::full({1}, group.rank()))).backward();  // d/dw = 6 rank
        return Seen{static_cast<float>(module.weight.grad().item()),
                    module.frozen.grad().defined(),
                    static_cast<float>(module.frozen.item()),
                    count(group.events().snapshot(), EventKind::kCollectiveBegin)};
    });
    for (const Seen& rank : seen) {
        CHECK(std::abs(rank.gradient - 6.0f) < 1e-5f);
        CHECK_FALSE(rank.frozen_has_gradient);
        CHECK(rank.frozen == 7.0f);  // the constructor broadcasts rank 0's whole state
        CHECK(rank.collectives == 1);
    }
}

namespace {

// Has a parameter without elements, which has its own bucket.
class Hollow : public nn::Module {
  public:
    Hollow() {
        register_parameter("hollow", hollow);
        register_parameter("weight", weight);
    }
    Tensor forward(const Tensor& x) override { return sum(x * weight) + sum(hollow); }

    Tensor hollow = Tensor::zeros({0, 3});
    Tensor weight = Tensor::ones({3});
};

}  // namespace

TEST_CASE("a parameter without elements does not disturb training") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        Hollow module;
        DistributedDataParallel ddp(module, kBucketEach);
        Values weights;
        for (int pass = 0; pass < 3; ++pass) {
            module.zero_grad();
            ddp(Tensor::full({3}, group.rank() + 1)).backward();
            const Values gradient = module.weight.grad().to_vector<float>();
            weights.insert(weights.end(), gradient.begin(), gradient.end());
        }
        return std::pair(weights, module.hollow.grad().shape());
    });
    for (const auto& [weights, hollow] : seen) {
        CHECK(hollow == Shape{0, 3});
        REQUIRE(weights.size() == 9);
        for (const float weight : weights)
            CHECK(std::abs(weight - static_cast<float>(ranks + 1) / 2) < 1e-5f);
    }
}

TEST_CASE("the names of the wrapped module's parameters have the prefix module.") {
    const auto names = on_ranks(1, [](dist::ProcessGroup&) {
        Toy module;
        const DistributedDataParallel ddp(module);
        return ddp.named_parameters().front().first;
    });
    CHECK(names[0] == "module.fc1.weight");
}
