// Communication hooks in DDP: user-defined hooks and PowerSGD. The checks of lab 18 show what
// each hook sends and leaves in its bucket, and error feedback.

#include "libmini/parallel/comm_hooks.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/error_feedback.hpp"
#include "libmini/parallel/low_rank.hpp"
#include "libmini/parallel/power_sgd.hpp"
#include "libmini/parallel/top_k.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

using Values = std::vector<float>;

// Returns each rank's gradients after the last of `iterations` iterations of DDP, with
// the hook that `make` returns, or without a hook if `make` is null.
std::vector<Values> gradients_with(int ranks, const std::function<CommHook()>& make,
                                   int iterations = 1) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Toy module;
        DistributedDataParallel ddp(
            module, {.first_bucket_bytes = 30, .bucket_cap_mb = parallel::mib(70)});
        if (make) ddp.register_comm_hook(make());
        for (int i = 0; i < iterations; ++i) {
            module.zero_grad();
            const auto seed = static_cast<uint64_t>(10 * i + group.rank());
            sum(ddp(draw({4, 3}, seed))).backward();
        }
        return flat_gradients(module);
    });
}

}  // namespace

TEST_CASE("with the all-reduce hook gradients are bitwise those of DDP without a hook") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    CHECK(gradients_with(ranks, allreduce_hook) == gradients_with(ranks, nullptr));
}

TEST_CASE("a user-defined hook receives every bucket with its gradients and parameters") {
    struct Seen {
        std::vector<size_t> indices;
        std::vector<bool> last;
        bool views = true;
        size_t finished = 0;
    };
    const auto all = on_ranks(2, [](dist::ProcessGroup&) {
        Toy module;
        DistributedDataParallel ddp(
            module, {.first_bucket_bytes = 30, .bucket_cap_mb = parallel::mib(70)});
        Seen seen;
        ddp.register_comm_hook([&](const GradBucket& bucket, dist::ProcessGroup& group) {
            seen.indices.push_back(bucket.index);
            seen.last.push_back(bucket.is_last);
            for (size_t i = 0; i < bucket.gradients.size(); ++i)
                seen.views = seen.views &&
                             bucket.gradients[i].shares_storage(bucket.buffer) &&
                             bucket.gradients[i].shape() == bucket.parameters[i].shape();
            return [&seen, next = allreduce_hook()(bucket, group)] {
                next();
                ++seen.finished;
            };
        });
        sum(ddp(draw({4, 3}, 1))).backward();
        return seen;
    });
    for (const Seen& seen : all) {
        CHECK(seen.indices == std::vector<size_t>{0, 1});
        CHECK(seen.last == std::vector<bool>{false, true});
        CHECK(seen.views);
        CHECK(seen.finished == 2);
    }
}

TEST_CASE("a hook that returns an empty function throws an error that names the bucket") {
    const auto said = on_ranks(2, [](dist::ProcessGroup&) {
        Toy module;
        DistributedDataParallel ddp(module);
        ddp.register_comm_hook(
            [](const GradBucket&, dist::ProcessGroup&) { return FinishHook(); });
        return message_of([&] { sum(ddp(draw({4, 3}, 1))).backward(); });
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        CAPTURE(said[rank]);
        CHECK(contains(said[rank], concat("bucket 0 was launched on rank ", rank)));
        CHECK(contains(said[rank], "nothing waits for the reduction"));
    }
}

TEST_CASE("a hook can be registered only once and before the first iteration") {
    const auto messages = on_ranks(1, [](dist::ProcessGroup&) {
        Toy module, other;
        DistributedDataParallel twice(module);
        CHECK_THROWS_AS(twice.register_comm_hook(nullptr), UsageError);
        twice.register_comm_hook(allreduce_hook());
        const std::string second =
            message_of([&] { twice.register_comm_hook(allreduce_hook()); });
        DistributedDataParallel late(other);
        sum(late(draw({4, 3}, 1))).backward();
        return std::pair(second,
                         message_of([&] { late.register_comm_hook(allreduce_hook()); }));
    });
    CHECK(contains(messages[0].first, "register only one"));
    CHECK(contains(messages[0].second, "before the first iteration"));
}

namespace {

// One weight (16, 12), large enough to be compressed.
class Wide : public nn::Module {
  public:
    Wide() { register_module("fc", fc); }
    Tensor forward(const Tensor& x) override { return fc(x); }
    nn::Linear fc{12, 16};
};

}  // namespace

TEST_CASE(
    "a gradient that PowerSGD sends uncompressed is the exact average in every step") {
    // The biases' gradients differ between the ranks, by the same amount in every step.
    const auto biases = [](bool compress) {
        return on_ranks(2, [&](dist::ProcessGroup& group) {
            manual_seed(5);
            Wide module;
            DistributedDataParallel ddp(module);
            if (compress)
                ddp.register_comm_hook(power_sgd_hook({.start_powerSGD_iter = 2}));
            const Tensor x = draw({3, 12}, 1);
            const Tensor weights = draw({3, 16}, 2 + static_cast<uint64_t>(group.rank()));
            std::vector<Values> seen;
            for (int i = 0; i < 30; ++i) {
                module.zero_grad();
                sum(ddp(x) * weights).backward();
                seen.push_back(module.fc.bias.grad().to_vector<float>());
            }
            return seen;
        });
    };
    const auto found = biases(true), exact = biases(false);
    for (size_t rank = 0; rank < 2; ++rank)
        for (size_t step = 0; step < 30; ++step) {
            CAPTURE(rank, step);
            REQUIRE(found[rank][step] == exact[rank][step]);
        }
}

TEST_CASE("PowerSGD sends two factors of rank r instead of the matrix") {
    const auto bytes = on_ranks(2, [](dist::ProcessGroup& group) {
        Wide module;
        DistributedDataParallel ddp(module);
        ddp.register_comm_hook(
            power_sgd_hook({.matrix_approximation_rank = 2, .start_powerSGD_iter = 2}));
        std::vector<int64_t> totals;
        for (int i = 0; i < 3; ++i) {
            module.zero_grad();
            group.events().clear();
            sum(ddp(draw({4, 12}, 1))).backward();
            int64_t total = 0;
            for (const Event& event :
                 group.events().snapshot(EventKind::kCollectiveBegin))
                if (std::string_view(event.name) == "all_reduce") total += event.bytes;
            totals.push_back(total);
        }
        return totals;
    });
    // The weight is 16 by 12; the bias of 16 elements is sent uncompressed.
    CHECK(bytes[0] ==
          std::vector<int64_t>{4 * (192 + 16), 4 * (192 + 16), 4 * (2 * (16 + 12) + 16)});

    const GradBucket of_scalar{
        .buffer = Tensor::ones({1}), .gradients = {Tensor::scalar(1)}, .parameters = {}};
    CHECK(low_rank_of(of_scalar, 1, 2).whole.size() == 1);
}

TEST_CASE("a hook that keeps state per bucket starts again when buckets are rebuilt") {
    const PowerSGDOptions full{.matrix_approximation_rank = 5,
                               .start_powerSGD_iter = 0,
                               .min_compression_rate = 0.1,
                               .use_error_feedback = false,
                               .warm_start = false};
    const auto after_rebuild = [](const std::function<CommHook()>& make) {
        return gradients_with(2, make, 3)[0];  // DDP rebuilds them after the first
    };
    const Values exact = after_rebuild(allreduce_hook);
    CHECK(relative_error(after_rebuild([&] { return power_sgd_hook(full); }), exact) <
          1e-5);
    CHECK(after_rebuild([] { return error_feedback_hook(allreduce_hook()); }) == exact);
}

TEST_CASE("PowerSGD rejects invalid options") {
    CHECK_THROWS_AS(power_sgd_hook({.matrix_approximation_rank = 0}), UsageError);
    CHECK_THROWS_AS(power_sgd_hook({.start_powerSGD_iter = 1}), UsageError);
}

TEST_CASE("top_k_hook rejects a ratio that is not above 0 and at most 1") {
    for (const double ratio : {0.0, -1.0, 1.5, std::nan("")})
        CHECK_THROWS_AS(top_k_hook(ratio), UsageError);
}
