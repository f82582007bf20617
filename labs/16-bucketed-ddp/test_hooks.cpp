// The checks of lab 16, task 16.4: communication hooks.

#include "labs/16-bucketed-ddp/test_support.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace mini;
using namespace mini::lab16;

TEST_CASE("a communication hook gets the undivided gradients of one bucket",
          "[lab16][lab16.4]") {
    struct Call {
        size_t index;
        bool is_last;
        Values buffer, gradients, of_parameters;
    };
    const bool together = GENERATE(false, true);  // one bucket, or two
    const auto seen = on_ranks(2, [&](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, together ? DDPOptions() : kBucketEach);
        std::vector<Call> calls;
        ddp.register_comm_hook([&](const parallel::GradBucket& bucket,
                                   dist::ProcessGroup&) {
            Call& call = calls.emplace_back(Call{bucket.index,
                                                 bucket.is_last,
                                                 values_of({bucket.buffer}),
                                                 values_of(bucket.gradients),
                                                 {}});
            for (const Tensor& parameter : bucket.parameters)
                if (parameter.grad().shares_storage(bucket.buffer))
                    call.of_parameters.push_back(parameter.grad().to_vector<float>()[0]);
            return [] {};
        });
        ddp(Tensor::full({1}, group.rank() + 1)).backward();
        return calls;
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        const auto own = static_cast<float>(rank + 1);
        const auto expected = together ? std::vector<Values>{{2 * own, own}}
                                       : std::vector<Values>{{2 * own}, {own}};
        INFO("rank " << rank << " of 2; b's gradient is " << 2 * own << ", a's is " << own
                     << ", and b is before a");
        REQUIRE(seen[rank].size() == expected.size());
        for (size_t call = 0; call < expected.size(); ++call) {
            INFO("bucket " << call
                           << ": its buffer, its gradients, and the gradients of");
            INFO("its parameters, which are views of the buffer when the hook is called");
            CHECK(seen[rank][call].index == call);
            CHECK(seen[rank][call].is_last == (call + 1 == expected.size()));
            CHECK(seen[rank][call].buffer == expected[call]);
            CHECK(seen[rank][call].gradients == expected[call]);
            CHECK(seen[rank][call].of_parameters == expected[call]);
        }
    }
}

TEST_CASE("a communication hook runs in the backward pass and its result after it",
          "[lab16][lab16.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        std::vector<bool> ended;  // whether the backward pass had ended, at each call
        const auto note = [&] {
            const auto log = group.events().snapshot();
            ended.push_back(!indices(log, EventKind::kBackwardEnd).empty());
        };
        ddp.register_comm_hook([&](const parallel::GradBucket&, dist::ProcessGroup&) {
            note();
            return note;
        });
        group.events().clear();
        ddp(Tensor::ones({1})).backward();
        return ended;
    });
    for (const std::vector<bool>& ended : seen) {
        INFO("the hooks of two buckets, then what they return: after kBackwardEnd?");
        CHECK(ended == std::vector<bool>{false, false, true, true});
    }
}

TEST_CASE("a communication hook may set the gradients itself and free its bucket",
          "[lab16][lab16.4]") {
    struct Seen {
        std::vector<int64_t> finished;  // buckets, in the order of their second functions
        std::vector<Values> passes;
    };
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        ddp.set_gradient_order({1, 0});  // no order is learnt, and none is sent
        Seen result;
        ddp.register_comm_hook([&](const parallel::GradBucket& bucket,
                                   dist::ProcessGroup& all) {
            all.all_reduce(bucket.buffer);
            for (size_t i = 0; i < bucket.parameters.size(); ++i)
                Tensor(bucket.parameters[i]).set_grad(ops::clone(bucket.gradients[i]));
            bucket.buffer.free_storage();
            return [&, index = bucket.index] {
                result.finished.push_back(static_cast<int64_t>(index));
            };
        });
        for (int pass = 0; pass < 3; ++pass) {
            model.zero_grad();
            ddp(Tensor::full({1}, group.rank() + 1)).backward();
            result.passes.push_back(gradients_of(model));
        }
        return result;
    });
    for (const auto& [finished, passes] : seen) {
        INFO(
            "the hook sums the gradients in its first function, sets them, and frees the "
            "bucket; the sums are 3 and 6. The reducer calls the second function once, "
            "in "
            "the order of the buckets, and does not set the gradients after the launch");
        CHECK(finished == std::vector<int64_t>{0, 1, 0, 1, 0, 1});
        INFO("three passes: each needs the memory of the bucket again");
        CHECK(passes == std::vector<Values>(3, Values{3, 6}));
    }
}

TEST_CASE(
    "a communication hook without a second function is an error that names a bucket",
    "[lab16][lab16.4]") {
    const auto messages = on_ranks(1, [](dist::ProcessGroup&) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        ddp.register_comm_hook(
            [](const parallel::GradBucket& bucket, dist::ProcessGroup&) {
                return bucket.is_last ? parallel::FinishHook() : [] {};
            });
        return error_of([&] { ddp(Tensor::ones({1})).backward(); });
    });
    INFO("the hook of bucket 1 returns an empty function; the message: " << messages[0]);
    CHECK_THAT(messages[0], ContainsSubstring("bucket 1"));
}

TEST_CASE("after a reduction has failed, the next forward pass is an error",
          "[lab16][lab16.4]") {
    const auto seen = on_ranks(1, [](dist::ProcessGroup&) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        ddp.register_comm_hook([](const parallel::GradBucket&, dist::ProcessGroup&) {
            return [] { throw Error("the link is down"); };
        });
        const Tensor x = Tensor::ones({1});
        const std::string backward = error_of([&] { ddp(x).backward(); });
        return std::pair(backward, error_of([&] { ddp(x); }));
    });
    INFO("the communication hook throws: " << seen[0].first);
    CHECK(seen[0].first == "the link is down");
    INFO("the next forward pass, by throw_unfinished(): " << seen[0].second);
    CHECK_THAT(seen[0].second, ContainsSubstring("hook failed"));
}
