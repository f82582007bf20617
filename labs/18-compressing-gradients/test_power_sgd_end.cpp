// The checks of lab 18, task 18.6: the end of PowerSGD.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "labs/18-compressing-gradients/test_support.hpp"
#include "libmini/parallel/power_sgd.hpp"

using namespace mini;
using namespace mini::lab18;
using parallel::power_sgd_hook;
using parallel::PowerSGDOptions;

namespace {

// Returns a matrix (n, m) of rank r, the same for the same seed.
Values low_rank(int64_t n, int64_t m, int64_t r, uint64_t seed) {
    const Tensor A = Tensor::from(draw(n * r, seed), {n, r});
    const Tensor B = Tensor::from(draw(r * m, seed + 100), {r, m});
    return values_of({ops::matmul(A, B)});
}

// The gradients of one rank: a matrix (6, 5) of rank `r`, and a bias (2).
Values gradients_of(int rank, int64_t r, uint64_t seed) {
    Values values = low_rank(6, 5, r, seed);
    values.push_back(static_cast<float>(10 * rank));
    values.push_back(1);
    return values;
}

struct Finished {
    Values result, sent, own;
    Journal journal;
    size_t started = 0;
};

Finished finish_once(dist::ProcessGroup& group, int64_t rank_of_matrix,
                     const PowerSGDOptions& options) {
    WatchedGroup watched(group);
    TestBucket test({{6, 5}, {2}});
    const Values own = gradients_of(group.rank(), rank_of_matrix,
                                    static_cast<uint64_t>(group.rank() + 1));
    test.bucket.sent = Tensor::zeros({32});
    test.set(own);
    const CommHook hook = power_sgd_hook(options);
    const auto finish = test.start(hook, watched);
    const size_t started = watched.journal.size();
    finish();
    return {test.values(), test.sent(), own, watched.journal, started};
}

Values mean_of(const std::vector<Finished>& all) {
    Values mean(all[0].own.size());
    for (const Finished& rank : all)
        for (size_t i = 0; i < mean.size(); ++i)
            mean[i] += rank.own[i] / static_cast<float>(all.size());
    return mean;
}

Values matrix_part(const Values& values) { return {values.begin(), values.begin() + 30}; }
Values bias_part(const Values& values) { return {values.begin() + 30, values.end()}; }

}  // namespace

TEST_CASE("with as many columns as the matrices together need the mean is exact",
          "[lab18][lab18.6]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const auto all = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        PowerSGDOptions options = kRankTwo;
        options.matrix_approximation_rank = 4;  // the sum of 4 matrices of rank 1
        return finish_once(group, 1, options);
    });
    const Values expected = mean_of(all);
    for (const Finished& rank : all) {
        INFO(
            ranks << " ranks, each with a matrix (6, 5) of rank 1: the mean has at most");
        INFO("rank " << ranks << ", and P has 4 columns, so P Qt is the mean; should be "
                     << labs::rows_of(matrix_part(expected), 5) << "; got "
                     << labs::rows_of(matrix_part(rank.result), 5));
        INFO("orthonormalise P, then Q = Mt P, averaged");
        CHECK(largest_difference(matrix_part(rank.result), matrix_part(expected)) < 1e-5);
        CHECK(rank.result == all[0].result);
    }
}

TEST_CASE("with one column M becomes the best product for the space of P",
          "[lab18][lab18.6]") {
    const auto all = on_ranks(1, [](dist::ProcessGroup& group) {
        PowerSGDOptions options = kRankTwo;
        options.matrix_approximation_rank = 1;
        return finish_once(group, 3, options);
    });
    const Values own = matrix_part(all[0].own), found = matrix_part(all[0].result);
    double left = 0, along = 0;
    for (size_t i = 0; i < own.size(); ++i) {
        left += std::pow(static_cast<double>(own[i]) - found[i], 2);
        along += (static_cast<double>(own[i]) - found[i]) * found[i];
    }
    INFO("a matrix of rank 3 and one column: P Pt M is a projection, so what is left is");
    INFO("orthogonal to it; the sum of products is " << along << ", should be 0");
    CHECK(std::abs(along) < 1e-5);
    CHECK(left > 1e-3);
    const auto shorter = on_ranks(1, [](dist::ProcessGroup& group) {
        PowerSGDOptions options = kRankTwo;
        options.matrix_approximation_rank = 1;
        options.orthogonalization_epsilon = 1;
        return finish_once(group, 1, options);
    })[0];
    const Values M = matrix_part(shorter.own), product = matrix_part(shorter.result);
    INFO(
        "rank 1, and an orthogonalization_epsilon of 1: the column of P is shorter than");
    INFO("1, so P Qt = P Pt M is smaller than M = " << labs::rows_of(M, 5) << "; got "
                                                    << labs::rows_of(product, 5));
    CHECK(dot(product, 1, 0, 0) < 0.9 * dot(M, 1, 0, 0));
    CHECK(dot(product, 1, 0, 0) > 0);
}

TEST_CASE("uncompressed gradients become their exact mean", "[lab18][lab18.6]") {
    const int ranks = GENERATE(1, 2, 3);
    const auto all = on_ranks(
        ranks, [](dist::ProcessGroup& group) { return finish_once(group, 1, kRankTwo); });
    for (const Finished& rank : all) {
        INFO(ranks << " ranks with the biases (10 * rank, 1): the mean is "
                   << 5 * (ranks - 1) << " 1; got " << in_words(bias_part(rank.result)));
        CHECK(largest_difference(bias_part(rank.result),
                                 {static_cast<float>(5 * (ranks - 1)), 1}) < 1e-5);
    }
}

TEST_CASE("what PowerSGD has sent is the product and the rank's own other gradients",
          "[lab18][lab18.6]") {
    const auto all = on_ranks(
        2, [](dist::ProcessGroup& group) { return finish_once(group, 3, kRankTwo); });
    for (size_t rank = 0; rank < 2; ++rank) {
        const Finished& step = all[rank];
        INFO("rank " << rank << " of 2; the matrix in `sent` is P Qt: should be "
                     << labs::rows_of(matrix_part(step.result), 5) << "; got "
                     << labs::rows_of(matrix_part(step.sent), 5));
        CHECK(largest_difference(matrix_part(step.sent), matrix_part(step.result)) <
              1e-6);
        INFO("the biases in `sent` are this rank's own "
             << in_words(bias_part(step.own))
             << ", so that their error is 0, "
                "and not the mean; got "
             << in_words(bias_part(step.sent)));
        CHECK(bias_part(step.sent) == bias_part(step.own));
    }
}

TEST_CASE("without sent nothing is noted", "[lab18][lab18.6]") {
    const auto results = on_ranks(2, [](dist::ProcessGroup& group) {
        TestBucket test({{6, 5}, {2}});
        test.set(gradients_of(group.rank(), 1, 3));
        test.start(power_sgd_hook(kRankTwo), group)();
        return test.values();
    });
    INFO("both ranks have one matrix of rank 1, without error feedback; got "
         << labs::rows_of(matrix_part(results[0]), 5));
    CHECK(largest_difference(matrix_part(results[0]),
                             matrix_part(gradients_of(0, 1, 3))) < 1e-5);
}

TEST_CASE("Q is the third all-reduce and every all-reduce is waited for",
          "[lab18][lab18.6]") {
    const auto all = on_ranks(
        2, [](dist::ProcessGroup& group) { return finish_once(group, 1, kRankTwo); });
    const Journal rest(all[0].journal.begin() + static_cast<int64_t>(all[0].started),
                       all[0].journal.end());
    INFO(
        "biases 8 bytes, P (6, 2) 48 bytes, and Q (5, 2) 40 bytes; Q needs the sum of P");
    INFO("after the start: " << in_words(rest));
    const Journal calls = without_op(rest);
    CHECK(calls.size() == 4);
    const auto at = [&calls](const char* line) { return std::ranges::find(calls, line); };
    CHECK(at("wait all_reduce 8") != calls.end());
    CHECK(at("wait all_reduce 48") < at("start all_reduce 40"));
    CHECK(at("start all_reduce 40") < at("wait all_reduce 40"));
    CHECK(at("wait all_reduce 40") != calls.end());
}

TEST_CASE("a warm start improves the approximation from step to step",
          "[lab18][lab18.6]") {
    const auto errors = on_ranks(2, [](dist::ProcessGroup& group) {
        PowerSGDOptions options = kRankTwo;
        options.matrix_approximation_rank = 1;
        options.warm_start = true;
        options.start_powerSGD_iter = 2;
        const CommHook hook = power_sgd_hook(options);
        TestBucket test({{6, 5}, {2}});
        const Values own = gradients_of(0, 3, 9);
        std::vector<double> found;
        for (int step = 0; step < 12; ++step) {
            test.set(own);
            test.start(hook, group)();
            double error = 0;
            for (size_t i = 0; i < 30; ++i)
                error += std::pow(static_cast<double>(own[i]) - test.values()[i], 2);
            found.push_back(error);
        }
        return found;
    })[0];
    INFO("one gradient of rank 3 in every step, and one column: each step is one of the");
    INFO("power method; the squared error after the first compressed step is "
         << errors[2] << ", after the last " << errors[11]);
    for (size_t step = 3; step < 12; ++step)
        CHECK(errors[step] <= errors[step - 1] + 1e-6);
    CHECK(errors[11] < 0.999 * errors[2]);
}

TEST_CASE("with error feedback the steps add up to the sum of the gradients",
          "[lab18][lab18.6]") {
    const int steps = 60;
    const auto relative_error = [&](bool feedback) {
        const auto all = on_ranks(2, [&](dist::ProcessGroup& group) {
            PowerSGDOptions options = kRankTwo;
            options.matrix_approximation_rank = 1;
            options.use_error_feedback = feedback;
            options.start_powerSGD_iter = 2;
            const CommHook hook = power_sgd_hook(options);
            TestBucket test({{6, 5}, {2}});
            Finished found;
            found.own =
                gradients_of(group.rank(), 3, static_cast<uint64_t>(group.rank() + 1));
            found.result.resize(found.own.size());
            for (int step = 0; step < steps; ++step) {
                test.set(found.own);
                test.start(hook, group)();
                for (size_t i = 0; i < found.result.size(); ++i)
                    found.result[i] += test.values()[i] / static_cast<float>(steps);
            }
            return found;
        });
        const Values expected = mean_of(all);
        double left = 0, size = 0;
        for (size_t i = 0; i < 30; ++i) {
            left += std::pow(static_cast<double>(all[0].result[i]) - expected[i], 2);
            size += std::pow(static_cast<double>(expected[i]), 2);
        }
        return std::sqrt(left / size);
    };
    const double with = relative_error(true), without = relative_error(false);
    INFO("two ranks, one column, the same gradients of rank 3 in each of 60 steps: the");
    INFO("mean of the steps differs from the mean gradient by " << with << " of it with");
    INFO("error feedback, and by " << without << " without it");
    INFO(
        "error_feedback_hook calls the hook with a bucket of its own, which ends before");
    INFO("the pass does: the function that the hook returns must keep a copy of it");
    CHECK(with < 0.1);
    CHECK(without > 2 * with);
}

TEST_CASE("each bucket has matrices and a Q of its own, until it is rebuilt",
          "[lab18][lab18.6]") {
    const auto found = on_ranks(2, [](dist::ProcessGroup& group) {
        PowerSGDOptions options = kRankTwo;
        options.warm_start = true;
        options.start_powerSGD_iter = 2;
        const CommHook hook = power_sgd_hook(options);
        std::vector<double> differences;
        const auto run = [&](TestBucket& first, TestBucket& second, const Values& one,
                             const Values& other) {
            const auto scale = static_cast<float>(2 * group.rank());  // the mean is 1
            first.set(one);
            second.set(other);
            ops::mul_(first.bucket.buffer, scale);
            ops::mul_(second.bucket.buffer, scale);
            const auto finish_first = first.start(hook, group);
            const auto finish_second = second.start(hook, group);
            finish_first();
            finish_second();
            differences.push_back(largest_difference(first.values(), one));
            differences.push_back(largest_difference(second.values(), other));
        };
        const Values wide = low_rank(3, 10, 2, 5), high = low_rank(10, 3, 2, 6);
        TestBucket first({{3, 10}}, 0), second({{10, 3}}, 1);
        first.bucket.is_last = false;
        for (int step = 0; step < 4; ++step) run(first, second, wide, high);
        TestBucket new_first({{10, 3}}, 0), new_second({{3, 10}}, 1);
        new_first.bucket.is_last = false;
        run(new_first, new_second, high, wide);
        return differences;
    })[0];
    INFO("two buckets of matrices (3, 10) and (10, 3) of rank 2, and r = 2, so the mean");
    INFO("is exact; in step 4 the buckets are rebuilt: a (10, 3) in bucket 0, a (3, 10)");
    INFO("in bucket 1. DDP starts both before it finishes one.");
    for (size_t i = 0; i < found.size(); ++i) {
        INFO("step " << i / 2 << ", bucket " << i % 2);
        CHECK(found[i] < 1e-5);
    }
}
