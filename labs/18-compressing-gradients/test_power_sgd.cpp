// The checks of lab 18, task 18.5: the start of PowerSGD.

#include <algorithm>
#include <cmath>
#include <vector>

#include "labs/18-compressing-gradients/test_support.hpp"
#include "libmini/parallel/power_sgd.hpp"

using namespace mini;
using namespace mini::lab18;
using parallel::power_sgd_hook;
using parallel::PowerSGDOptions;

namespace {

// A bucket of a bias (3), the identity (8, 8), and another bias (2).
TestBucket identity_bucket(float bias) {
    TestBucket test({{3}, {8, 8}, {2}});
    Values values(3 + 64 + 2);
    for (size_t i = 0; i < 3; ++i) values[i] = bias + static_cast<float>(i);
    for (size_t i = 0; i < 8; ++i) values[3 + 9 * i] = 1;
    values[67] = 2 * bias;
    values[68] = -bias;
    test.set(values);
    return test;
}

// Returns the payloads of n elements.
std::vector<Values> of_size(const std::vector<Values>& payloads, size_t n) {
    std::vector<Values> found;
    for (const Values& payload : payloads)
        if (payload.size() == n) found.push_back(payload);
    return found;
}

// What each step gave to the all-reduces, when the hook was started but not finished.
struct Started {
    Journal journal;
    std::vector<Values> payloads;

    // Returns all P that were given, step by step: they have 16 elements.
    std::vector<Values> all_P() const { return of_size(payloads, 16); }
};

Started start_steps(dist::ProcessGroup& group, const CommHook& hook, int steps) {
    WatchedGroup watched(group);
    TestBucket test = identity_bucket(static_cast<float>(10 * (group.rank() + 1)));
    for (int step = 0; step < steps; ++step) test.start(hook, watched);
    return {watched.journal, watched.payloads};
}

}  // namespace

TEST_CASE("uncompressed gradients and P are started in two all-reduces",
          "[lab18][lab18.5]") {
    const auto started = on_ranks(2, [](dist::ProcessGroup& group) {
        return start_steps(group, power_sgd_hook(kRankTwo), 1);
    });
    INFO("biases of 3 and 2 and a matrix (8, 8), compressed with r = 2: 20 bytes of");
    INFO("biases, and P (8, 2), 64 bytes, in any order; no wait yet: backward goes on");
    Journal calls = without_op(started[1].journal);
    std::ranges::sort(calls);
    CHECK(calls == Journal{"start all_reduce 20", "start all_reduce 64"});
}

TEST_CASE("the first iterations are not compressed", "[lab18][lab18.5]") {
    const auto journal = on_ranks(1, [](dist::ProcessGroup& group) {
        PowerSGDOptions options = kRankTwo;
        options.start_powerSGD_iter = 2;
        const CommHook hook = power_sgd_hook(options);
        WatchedGroup watched(group);
        TestBucket first({{8, 8}}, 0), second({{8, 8}}, 1);
        first.bucket.is_last = false;
        for (int step = 0; step < 3; ++step) {
            first.start(hook, watched);
            second.start(hook, watched);
        }
        Journal calls = without_op(watched.journal);
        std::erase(calls, "start all_reduce 0");  // of no uncompressed gradients
        return calls;
    })[0];
    INFO("two buckets, each of a matrix (8, 8): 256 bytes, or P (8, 2), 64 bytes;");
    INFO("start_powerSGD_iter is 2, and a pass ends with the bucket that is_last");
    CHECK(journal == Journal{"start all_reduce 256", "start all_reduce 256",
                             "start all_reduce 256", "start all_reduce 256",
                             "start all_reduce 64", "start all_reduce 64"});
}

TEST_CASE("Q has orthonormal columns and is the same on all ranks", "[lab18][lab18.5]") {
    const auto all_P = [](int ranks) {
        return on_ranks(ranks, [](dist::ProcessGroup& group) {
            return start_steps(group, power_sgd_hook(kRankTwo), 1).all_P().at(0);
        });
    };
    const Values P = all_P(1)[0];
    INFO("the matrix is the identity, so P = M Q is Q itself: " << labs::rows_of(P, 2));
    for (size_t a = 0; a < 2; ++a)
        for (size_t b = 0; b <= a; ++b)
            CHECK(dot(P, 2, a, b) == about(a == b ? 1.0 : 0.0, 1e-6));
    const auto three = all_P(3);
    INFO("three ranks draw Q with the same seed: "
         << labs::rows_of(three[0], 2) << " and " << labs::rows_of(three[1], 2));
    for (const Values& rank : three) CHECK(rank == three[0]);
    const auto with = [](const PowerSGDOptions& options) {
        return on_ranks(1, [&](dist::ProcessGroup& group) {
            return start_steps(group, power_sgd_hook(options), 1).all_P().at(0);
        })[0];
    };
    PowerSGDOptions seed_one = kRankTwo, epsilon_one = kRankTwo;
    seed_one.random_seed = 1;
    epsilon_one.orthogonalization_epsilon = 1;
    const Values other = with(seed_one), shorter = with(epsilon_one);
    INFO("a random_seed of 1 instead of 0 draws another Q: " << labs::rows_of(other, 2));
    CHECK(largest_difference(other, P) > 1e-3);
    INFO("an orthogonalization_epsilon of 1 makes Q's columns shorter than 1: "
         << labs::rows_of(shorter, 2));
    CHECK(dot(shorter, 2, 0, 0) < 0.9);
}

TEST_CASE("P is the product of the matrix and Q", "[lab18][lab18.5]") {
    const auto found = on_ranks(1, [](dist::ProcessGroup& group) {
        // Two matrices (4, 4): the identity, and 2 3 4 5 above rows of zeros.
        WatchedGroup watched(group);
        TestBucket test({{4, 4}, {4, 4}});
        Values both(32);
        for (size_t i = 0; i < 4; ++i) {
            both[5 * i] = 1;
            both[16 + i] = static_cast<float>(2 + i);
        }
        test.set(both);
        test.start(power_sgd_hook(kRankTwo), watched);
        return of_size(watched.payloads, 16);
    })[0];
    INFO("P of both matrices is sent in one all-reduce");
    REQUIRE(found.size() == 1);
    const Values first(found[0].begin(), found[0].begin() + 8);
    const Values second(found[0].begin() + 8, found[0].end());
    INFO("the first matrix is the identity; the second has 2 3 4 5 above rows of zeros,");
    INFO("so P of the second is zero below its first row; got "
         << labs::rows_of(first, 2) << " and " << labs::rows_of(second, 2));
    CHECK(Values(second.begin() + 2, second.end()) == Values(6));
    Values with_first_Q(2);
    for (size_t i = 0; i < 4; ++i)
        for (size_t column = 0; column < 2; ++column)
            with_first_Q[column] += static_cast<float>(2 + i) * first[2 * i + column];
    INFO("each matrix has a Q of its own, drawn one after the other; with the first");
    INFO("matrix's Q the row would be " << in_words(with_first_Q));
    CHECK(largest_difference({second[0], second[1]}, with_first_Q) > 1e-3);
    CHECK(std::abs(second[0]) + std::abs(second[1]) > 1e-3);
}

TEST_CASE("a warm start keeps Q and otherwise each step draws another Q",
          "[lab18][lab18.5]") {
    const auto payloads = [](bool warm) {
        return on_ranks(1, [&](dist::ProcessGroup& group) {
            PowerSGDOptions options = kRankTwo;
            options.warm_start = warm;
            options.start_powerSGD_iter = warm ? 2 : 0;
            const CommHook hook = power_sgd_hook(options);
            if (warm) start_steps(group, hook, 2);  // a plain all-reduce, not finished
            WatchedGroup watched(group);
            TestBucket test = identity_bucket(1);
            for (int step = 0; step < 2; ++step) test.start(hook, watched);
            return of_size(watched.payloads, 16);
        })[0];
    };
    const auto warm = payloads(true), cold = payloads(false);
    REQUIRE(warm.size() == 2);
    REQUIRE(cold.size() == 2);
    INFO("the identity in two steps, so P is Q; with a warm start the second Q is the");
    INFO("first (nothing else has changed it): " << labs::rows_of(warm[0], 2) << " and "
                                                 << labs::rows_of(warm[1], 2));
    CHECK(largest_difference(warm[0], warm[1]) < 1e-6);
    INFO("without it, Q is drawn again in each step: "
         << labs::rows_of(cold[0], 2) << " and " << labs::rows_of(cold[1], 2));
    CHECK(largest_difference(cold[0], cold[1]) > 1e-3);

    INFO("options that cannot work are rejected");
    CHECK_THROWS_AS(power_sgd_hook({.matrix_approximation_rank = 0}), UsageError);
    INFO("error feedback or warm start with start_powerSGD_iter = 1");
    CHECK_THROWS_AS(power_sgd_hook({.start_powerSGD_iter = 1, .warm_start = false}),
                    UsageError);
    CHECK_THROWS_AS(
        power_sgd_hook({.start_powerSGD_iter = 1, .use_error_feedback = false}),
        UsageError);
    CHECK_NOTHROW(power_sgd_hook({.start_powerSGD_iter = 2}));
    INFO("start_powerSGD_iter = 0 without both");
    CHECK_NOTHROW(power_sgd_hook(kRankTwo));
}

TEST_CASE("columns of Q that have become zero are drawn again", "[lab18][lab18.5]") {
    const auto found = on_ranks(1, [](dist::ProcessGroup& group) {
        PowerSGDOptions options = kRankTwo;
        options.warm_start = true;
        options.start_powerSGD_iter = 2;
        const CommHook hook = power_sgd_hook(options);
        start_steps(group, hook, 2);
        return start_steps(group, hook, 1).all_P();
    })[0];
    REQUIRE(found.size() == 1);
    INFO("in the first compressed step a warm start has no last Q, only zeros: without");
    INFO("random numbers P would be zero in every step; got "
         << labs::rows_of(found[0], 2));
    CHECK(dot(found[0], 2, 0, 0) == about(1, 1e-6));
    CHECK(dot(found[0], 2, 1, 1) == about(1, 1e-6));
}
