// The checks of lab 18, tasks 18.1 and 18.2: 16-bit floats, and error feedback.

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "labs/18-compressing-gradients/test_support.hpp"
#include "libmini/parallel/error_feedback.hpp"

using namespace mini;
using namespace mini::lab18;
using parallel::allreduce_hook;
using parallel::bf16_compress_hook;
using parallel::error_feedback_hook;
using parallel::fp16_compress_hook;

// ---- 18.1

TEST_CASE("the all-reduce hook leaves the mean over the ranks", "[lab18][lab18.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto steps = on_ranks(ranks, [](dist::ProcessGroup& group) {
        const auto rank = static_cast<float>(group.rank());
        return run_once(allreduce_hook(), group, {rank, 6}, true);
    });
    for (size_t rank = 0; rank < steps.size(); ++rank) {
        const Step& step = steps[rank];
        INFO(ranks << " ranks with the gradients rank and 6: the means are "
                   << static_cast<float>(ranks - 1) / 2 << " and 6; got "
                   << in_words(step.result));
        INFO("a hook gets gradients that are not divided; hint 1 of 18.1 helps");
        CHECK(step.result[0] == about(static_cast<float>(ranks - 1) / 2, 1e-5));
        CHECK(step.result[1] == about(6, 1e-5));
        CHECK(step.result == steps[0].result);
        INFO("this hook loses nothing, so it leaves `sent` alone: rank "
             << rank << "'s gradients, not divided; got " << in_words(step.sent));
        CHECK(step.sent == Values{static_cast<float>(rank), 6});
    }
}

TEST_CASE("the hooks send 4 or 2 bytes for each gradient", "[lab18][lab18.1]") {
    const auto steps = on_ranks(2, [](dist::ProcessGroup& group) {
        return std::vector<Step>{run_once(allreduce_hook(), group, {1, 2, 3}),
                                 run_once(fp16_compress_hook(), group, {1, 2, 3}),
                                 run_once(bf16_compress_hook(), group, {1, 2, 3})};
    });
    INFO("three gradients; without compression they are 12 bytes, else 6; a sum and not");
    INFO("an average (\"avg\"), since the hooks have divided before");
    CHECK(steps[0][0].starting == Journal{"start all_reduce 12"});
    CHECK(steps[0][1].starting == Journal{"start all_reduce 6"});
    CHECK(steps[0][2].starting == Journal{"start all_reduce 6"});
}

TEST_CASE("the hooks only start an all-reduce, and the second function waits for it",
          "[lab18][lab18.1]") {
    for (const auto& make : {allreduce_hook, fp16_compress_hook, bf16_compress_hook}) {
        const auto steps = on_ranks(2, [&](dist::ProcessGroup& group) {
            return run_once(make(), group, {1, 2});
        });
        INFO("before the hook returned: " << in_words(steps[0].starting)
                                          << "; in the function that it returned: "
                                          << in_words(steps[0].finishing));
        INFO(
            "a wait in the hook itself stops the backward pass; without a wait the "
            "average is not there; hint 2 of 18.1 helps");
        CHECK(steps[0].starting.size() == 1);
        REQUIRE(steps[0].finishing.size() == 1);
        CHECK(steps[0].finishing[0].starts_with("wait all_reduce"));
    }
}

TEST_CASE("float16 keeps 10 bits of the fraction and bfloat16 keeps 7",
          "[lab18][lab18.1]") {
    const float tenth = 1.0f + 0x1p-10f, seventh = 1.0f + 0x1p-7f, ninth = 1 + 0x1p-9f;
    const auto steps = on_ranks(1, [&](dist::ProcessGroup& group) {
        const Values values{tenth, seventh, ninth, 1e6f};
        return std::vector<Step>{run_once(fp16_compress_hook(), group, values),
                                 run_once(bf16_compress_hook(), group, values)};
    })[0];
    INFO("1 + 2^-10, 1 + 2^-7, 1 + 2^-9 and 1e6 on one rank");
    INFO("float16 keeps the first three, and 1e6 is above its largest number, 65504;");
    INFO("got " << in_words(steps[0].result));
    CHECK(Values(steps[0].result.begin(), steps[0].result.begin() + 3) ==
          Values{tenth, seventh, ninth});
    CHECK(std::isinf(steps[0].result[3]));
    INFO("bfloat16 keeps only 1 + 2^-7, and 1e6 up to 2^-8 of it; got "
         << in_words(steps[1].result));
    CHECK(Values(steps[1].result.begin(), steps[1].result.begin() + 3) ==
          Values{1, seventh, 1});
    CHECK(std::abs(steps[1].result[3] - 1e6f) <= 1e6f / 256);
}

TEST_CASE("gradients are divided before they are rounded", "[lab18][lab18.1]") {
    const auto steps = on_ranks(2, [](dist::ProcessGroup& group) {
        return run_once(fp16_compress_hook(), group, {100000, 60000});
    });
    INFO("100000 and 60000 on both of two ranks, as float16; got "
         << in_words(steps[0].result));
    INFO(
        "60000 on each rank is 120000 in all, above 65504, float16's largest number; the "
        "quotients 30000 and their sum are not: divide first; hint 1 of 18.1 helps");
    CHECK(std::isinf(steps[0].result[0]));
    CHECK(steps[0].result[1] == 60000);
    INFO(
        "so each rank gives 50000, which float16 rounds to 49984, and 30000 to the sum;");
    INFO("100000, rounded before it is divided, is already infinite: PyTorch does that");
    INFO("given: " << in_words(steps[0].payloads[0]));
    CHECK(steps[0].payloads[0] == Values{49984, 30000});
}

TEST_CASE("what a 16-bit hook has sent is its rounded quotient times the ranks",
          "[lab18][lab18.1]") {
    const int ranks = GENERATE(1, 2, 3);
    const auto steps = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const float mine = static_cast<float>(ranks * (1 + group.rank())) + 0.125f;
        return run_once(bf16_compress_hook(), group, {mine, 1.5f}, true);
    });
    for (size_t rank = 0; rank < steps.size(); ++rank) {
        const Step& step = steps[rank];
        INFO("rank " << rank << " of " << ranks << " gave " << in_words(step.payloads[0])
                     << " to the all-reduce, so `sent` is this times " << ranks
                     << "; got " << in_words(step.sent));
        INFO(
            "the sum overwrites the tensor that is sent: read it before; hint 3 of 18.1");
        REQUIRE(step.sent.size() == 2);
        for (size_t i = 0; i < 2; ++i)
            CHECK(step.sent[i] == step.payloads[0][i] * static_cast<float>(ranks));
    }
}

// ---- 18.2

namespace {

// A hook that sends integers: rounds each gradient, and averages over the ranks. It
// writes `sent` only when it finishes, as PowerSGD does.
CommHook integer_hook() {
    return [](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        Values rounded = values_of({bucket.buffer});
        for (float& value : rounded) value = std::nearbyint(value);
        Tensor buffer = bucket.buffer;
        ops::copy_(buffer, Tensor::from(rounded));
        return [buffer, rounded, sent = bucket.sent,
                work = group.all_reduce_async(buffer, dist::ReduceOp::kAvg)]() mutable {
            work->wait();
            if (sent.defined()) ops::copy_(sent, Tensor::from(rounded));
        };
    };
}

// Returns the averages of the steps; steps[i] are this rank's gradients in step i.
std::vector<Values> averages(const CommHook& hook, dist::ProcessGroup& group,
                             const std::vector<Values>& steps) {
    TestBucket test({{static_cast<int64_t>(steps[0].size())}}, 0);
    std::vector<Values> results;
    for (const Values& step : steps) {
        test.set(step);
        test.start(hook, group)();
        results.push_back(test.values());
    }
    return results;
}

}  // namespace

TEST_CASE("what is not sent in one step is added to the next gradient",
          "[lab18][lab18.2]") {
    const auto results = on_ranks(1, [](dist::ProcessGroup& group) {
        return averages(error_feedback_hook(integer_hook()), group,
                        {{0.3f}, {0.3f}, {0.3f}, {0.3f}, {0.3f}});
    })[0];
    Values sent;
    for (const Values& step : results) sent.push_back(step[0]);
    INFO("a hook that sends integers, one rank, the gradient 0.3 in each of five steps");
    INFO(
        "with the errors 0.3 -0.4 -0.1 0.2 it sends 0 1 0 0 0 (the last: 0.5 is even); "
        "got "
        << in_words(sent));
    INFO("always 0: no error arrives in the next step. A Tensor is a handle: `error =`");
    INFO("changes only the handle, ops::copy_ changes the tensor that is kept");
    CHECK(Values(sent.begin(), sent.begin() + 4) == Values{0, 1, 0, 0});
}

TEST_CASE("a rank's error is what this rank has not sent", "[lab18][lab18.2]") {
    const int ranks = GENERATE(2, 3, 4, 7);
    const auto results = on_ranks(ranks, [](dist::ProcessGroup& group) {
        const auto odd = static_cast<float>(group.rank() % 2);
        return averages(error_feedback_hook(integer_hook()), group,
                        {{odd, 0.25f}, {0.25f, 0.25f}, {0, 0.25f}});
    });
    const float odd_ranks = static_cast<float>(ranks / 2) / static_cast<float>(ranks);
    for (const auto& steps : results) {
        INFO(ranks
             << " ranks; in the first step odd ranks have the gradient 1, others 0:");
        INFO(
            "integers, so all is sent. In the second step all have 0.25: nothing is "
            "sent");
        INFO("the averages should be " << odd_ranks << " and 0, and are " << steps[0][0]
                                       << " and " << steps[1][0]);
        INFO(
            "if the error is the sum minus the average, ranks that differ from the "
            "average seem to have errors");
        CHECK(steps[0][0] == about(odd_ranks, 1e-6));
        CHECK(steps[1][0] == 0);
        CHECK(steps[2][0] == 0);
        INFO("0.25 in three steps is 0.75, so 1 is sent in the third; got "
             << steps[2][1]);
        CHECK(steps[2][1] == 1);
    }
}

TEST_CASE("the error is found after the hook has finished", "[lab18][lab18.2]") {
    const auto calls = on_ranks(2, [](dist::ProcessGroup& group) {
        return run_once(error_feedback_hook(integer_hook()), group, {0.3f, 2});
    });
    INFO("before the wrapper returned: " << in_words(calls[0].starting)
                                         << "; afterwards: "
                                         << in_words(calls[0].finishing));
    INFO("the wrapper starts the hook and returns");
    CHECK(calls[0].starting == Journal{"start all_reduce avg 8"});
    CHECK(calls[0].finishing == Journal{"wait all_reduce avg 8"});
}

TEST_CASE("a hook that sends everything gives the same averages with error feedback",
          "[lab18][lab18.2]") {
    const auto pairs = on_ranks(3, [](dist::ProcessGroup& group) {
        const auto rank = static_cast<float>(group.rank());
        const std::vector<Values> steps{{rank, 5}, {2, -rank}, {0.1f, 7 * rank}};
        return std::pair(averages(error_feedback_hook(allreduce_hook()), group, steps),
                         averages(allreduce_hook(), group, steps));
    });
    for (const auto& [found, expected] : pairs)
        for (size_t step = 0; step < expected.size(); ++step) {
            INFO("step " << step
                         << " of the all-reduce hook, which does not touch `sent`:"
                         << " got " << in_words(found[step]) << " instead of "
                         << in_words(expected[step]));
            INFO("then `sent` is still the copy that the wrapper made, and the error is");
            INFO("exactly 0; the averages must be bitwise equal");
            CHECK(found[step] == expected[step]);
        }
}

TEST_CASE("the hook gets the sum in the buffer and a copy of it in sent",
          "[lab18][lab18.2]") {
    struct Seen {
        Values buffer, sent;
        bool shared = true;
        size_t index = 0, gradients = 0, parameters = 0;
        bool is_last = false;
    };
    const auto seen = on_ranks(1, [](dist::ProcessGroup& group) {
        Seen last;
        const CommHook looks = [&last](const GradBucket& bucket,
                                       dist::ProcessGroup&) -> FinishHook {
            MINI_CHECK(bucket.sent.defined(), "the inner hook's bucket has no `sent`");
            last = {.buffer = values_of({bucket.buffer}),
                    .sent = values_of({bucket.sent}),
                    .shared = bucket.sent.shares_storage(bucket.buffer),
                    .index = bucket.index,
                    .gradients = bucket.gradients.size(),
                    .parameters = bucket.parameters.size(),
                    .is_last = bucket.is_last};
            Tensor sent = bucket.sent;
            return [sent]() mutable { ops::fill_(sent, 1.0f); };
        };
        const CommHook hook = error_feedback_hook(looks);
        TestBucket test({{2}, {1}}, 4);
        test.bucket.sent = Tensor::zeros({3});  // of another hook, around this one
        for (int step = 0; step < 3; ++step) {
            test.set({5, 6, 7});
            test.start(hook, group)();
        }
        return last;
    })[0];
    INFO("gradients 5 6 7 in each of three steps; the hook says it has sent 1 1 1:");
    INFO("the sums are 5 6 7, 9 11 13, 13 16 19, and the errors are 4 5 6, 8 10 12");
    INFO("in the third step: buffer " << in_words(seen.buffer) << ", sent "
                                      << in_words(seen.sent));
    CHECK(seen.buffer == Values{13, 16, 19});
    CHECK(seen.sent == Values{13, 16, 19});
    CHECK_FALSE(seen.shared);
    CHECK(seen.index == 4);
    CHECK(seen.gradients == 2);
    CHECK(seen.parameters == 2);
    CHECK(seen.is_last);
}

TEST_CASE("two buckets in flight have an error each", "[lab18][lab18.2]") {
    const auto results = on_ranks(2, [](dist::ProcessGroup& group) {
        const CommHook hook = error_feedback_hook(integer_hook());
        TestBucket first({{1}}, 0), second({{1}}, 1);
        for (int step = 0; step < 2; ++step) {
            first.set({0.375f});
            second.set({-0.25f});
            const auto finish_first = first.start(hook, group);
            const auto finish_second = second.start(hook, group);
            finish_first();
            finish_second();
        }
        return Values{first.values()[0], second.values()[0]};
    });
    INFO(
        "bucket 0 has 0.375 in both steps, bucket 1 has -0.25; DDP starts both before it "
        "finishes one");
    INFO("the second sums are 0.75 and -0.5, so 1 and 0 are sent; got "
         << in_words(results[0]));
    CHECK(results[0] == Values{1, 0});
}

TEST_CASE("the error of a rebuilt bucket is zero", "[lab18][lab18.2]") {
    const auto results = on_ranks(1, [](dist::ProcessGroup& group) {
        const CommHook hook = error_feedback_hook(integer_hook());
        Values found;
        for (const int64_t size : {1, 1, 3}) {
            TestBucket rebuilt({{size}}, 0);
            for (int step = 0; step < 2; ++step) {
                rebuilt.set(Values(static_cast<size_t>(size), 0.375f));
                rebuilt.start(hook, group)();
                found.push_back(rebuilt.values()[0]);
            }
        }
        return found;
    })[0];
    INFO("bucket 0 has 0.375 in two steps, so 0 and 1 are sent; then it is rebuilt with");
    INFO("another gradient, and again with a larger one: its index stays, but the old");
    INFO("error belongs to other gradients; bucket_state.hpp helps");
    CHECK(results == Values{0, 1, 0, 1, 0, 1});
}
