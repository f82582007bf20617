#include "libmini/parallel/ddp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
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

std::vector<int64_t> indices(const std::vector<Event>& events) {
    std::vector<int64_t> result;
    for (const Event& event : events) result.push_back(event.index);
    return result;
}

// The position in the log of the first event with this kind and index.
size_t place(const std::vector<Event>& events, EventKind kind, int64_t index) {
    const auto found = std::ranges::find_if(events, [&](const Event& event) {
        return event.kind == kind && event.index == index;
    });
    return static_cast<size_t>(found - events.begin());
}

int64_t count(const std::vector<Event>& events, EventKind kind) {
    return std::ranges::count(events, kind, &Event::kind);
}

int64_t all_reduces(const std::vector<Event>& events) {
    return std::ranges::count_if(events, [](const Event& event) {
        return event.kind == EventKind::kCollectiveBegin &&
               std::string_view(event.name) == "all_reduce";
    });
}

}  // namespace

TEST_CASE("the replicas start with rank 0's parameters") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    const auto parameters = on_ranks(ranks, [](dist::ProcessGroup& group) {
        manual_seed(100 + static_cast<uint64_t>(group.rank()));
        Toy module;
        const DistributedDataParallel ddp(module);
        return flat_parameters(module);
    });
    manual_seed(100);
    const Values of_rank_0 = flat_parameters(Toy());
    for (const Values& values : parameters) CHECK(values == of_rank_0);
}

TEST_CASE("gradients are the average over ranks and bitwise identical on all ranks") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    // Small integers: on rank r the gradient is r + 1 for the weight and 1 for the bias.
    const auto gradients = on_ranks(ranks, [](dist::ProcessGroup& group) {
        nn::Linear module(1, 1);
        DistributedDataParallel ddp(module);
        const Tensor x = Tensor::full({1, 1}, group.rank() + 1);
        sum(ddp(x)).backward();
        return flat_gradients(module);
    });
    const float expected = static_cast<float>(ranks + 1) / 2;
    for (const Values& values : gradients) {
        CHECK(values == gradients[0]);
        CHECK(std::abs(values[0] - expected) < 1e-6f);
        CHECK(std::abs(values[1] - 1.0f) < 1e-6f);
    }
}

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

TEST_CASE(
    "each backward pass makes each bucket ready and launches and completes it once") {
    const int ranks = GENERATE(1, 2, 3);
    CAPTURE(ranks);
    const auto logs = on_ranks(ranks, [](dist::ProcessGroup& group) {
        Toy module;
        DistributedDataParallel ddp(module, kBucketEach);
        group.events().clear();
        for (int pass = 0; pass < 2; ++pass) {
            module.zero_grad();
            sum(ddp(draw({4, 3}, 1))).backward();
        }
        return group.events().snapshot();
    });
    for (const auto& log : logs) {
        CHECK(count(log, EventKind::kBucketReady) == 8);
        CHECK(count(log, EventKind::kBucketLaunch) == 8);
        CHECK(count(log, EventKind::kBucketDone) == 8);
        CHECK(all_reduces(log) == 8);
        for (int64_t bucket = 0; bucket < 4; ++bucket) {
            CHECK(place(log, EventKind::kBucketReady, bucket) <
                  place(log, EventKind::kBucketLaunch, bucket));
            CHECK(place(log, EventKind::kBucketLaunch, bucket) <
                  place(log, EventKind::kBucketDone, bucket));
        }
    }
}

TEST_CASE("the first bucket is launched before the last gradient is ready") {
    const auto logs = on_ranks(2, [](dist::ProcessGroup& group) {
        Toy module;
        DistributedDataParallel ddp(module, kBucketEach);
        group.events().clear();
        sum(ddp(draw({4, 3}, 1))).backward();
        return group.events().snapshot();
    });
    for (const auto& log : logs) {
        const size_t first_launch = place(log, EventKind::kBucketLaunch, 0);
        const size_t last_gradient = std::max(place(log, EventKind::kGradReady, 0),
                                              place(log, EventKind::kGradReady, 1));
        CHECK(last_gradient < log.size());
        CHECK(first_launch < last_gradient);
        CHECK(last_gradient < place(log, EventKind::kBackwardEnd, 0));
    }
}

namespace {

// Uses its parameters in an order that depends on the rank.
class Moody : public nn::Module {
  public:
    explicit Moody(bool reversed) : reversed_(reversed) {
        register_parameter("a", a);
        register_parameter("b", b);
    }
    Tensor forward(const Tensor& x) override {
        const Tensor& early = reversed_ ? b : a;
        const Tensor& late = reversed_ ? a : b;
        const Tensor first = x * early;
        return first + x * late;
    }

    Tensor a = Tensor::ones({1});
    Tensor b = Tensor::ones({1});

  private:
    bool reversed_;
};

}  // namespace

TEST_CASE("buckets are launched in the same order on all ranks for any gradient order") {
    const auto logs = on_ranks(3, [](dist::ProcessGroup& group) {
        Moody module(group.rank() == 1);
        DistributedDataParallel ddp(module, kBucketEach);
        group.events().clear();
        sum(ddp(Tensor::full({1}, group.rank()))).backward();
        return group.events().snapshot();
    });
    const auto of_kind = [&](size_t rank, EventKind kind) {
        std::vector<Event> events;
        std::ranges::copy_if(logs[rank], std::back_inserter(events),
                             [&](const Event& event) { return event.kind == kind; });
        return indices(events);
    };
    CHECK(of_kind(0, EventKind::kGradReady) == std::vector<int64_t>{1, 0});
    CHECK(of_kind(1, EventKind::kGradReady) == std::vector<int64_t>{0, 1});
    for (size_t rank = 0; rank < 3; ++rank)
        CHECK(of_kind(rank, EventKind::kBucketLaunch) == std::vector<int64_t>{0, 1});
}

TEST_CASE("an exception inside no_sync restores synchronisation") {
    const auto gradients = on_ranks(2, [](dist::ProcessGroup& group) {
        nn::Linear module(1, 1, {.bias = false});
        DistributedDataParallel ddp(module);
        try {
            const auto no_sync = ddp.no_sync();
            throw Error("the batch was bad");
        } catch (const Error&) {
        }
        sum(ddp(Tensor::full({1, 1}, group.rank() + 1))).backward();
        return flat_gradients(module);
    });
    CHECK(gradients[0] == Values{1.5f});
    CHECK(gradients[1] == Values{1.5f});
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
