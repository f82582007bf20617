// Compression of gradients: top-k, error feedback, and orthonormal columns.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/error_feedback.hpp"
#include "libmini/parallel/orthogonalize.hpp"
#include "libmini/parallel/power_sgd.hpp"
#include "libmini/parallel/top_k.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

using Values = std::vector<float>;
using Indices = std::vector<int64_t>;

GradBucket bucket_of(size_t index, const Tensor& buffer) {
    GradBucket bucket;
    bucket.index = index;
    bucket.is_last = true;
    bucket.buffer = buffer;
    bucket.gradients = {buffer};
    return bucket;
}

// Calls the hook with a bucket of one gradient in each step; returns the averages.
std::vector<Values> averages(const CommHook& hook, dist::ProcessGroup& group,
                             const std::vector<Values>& steps) {
    std::vector<Values> results;
    Tensor buffer = Tensor::zeros({static_cast<int64_t>(steps[0].size())});
    for (const Values& step : steps) {
        ops::copy_(buffer, Tensor::from(step));
        hook(bucket_of(0, buffer), group)();
        results.push_back(buffer.to_vector<float>());
    }
    return results;
}

Indices sorted(Indices indices) {
    std::ranges::sort(indices);
    return indices;
}

}  // namespace

TEST_CASE("top_k_indices returns the indices of the largest magnitudes") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(sorted(top_k_indices(Values{1, -5, 0, 4}, 2)) == Indices{1, 3});
    CHECK(sorted(top_k_indices(Values{2, -2, 2, 2}, 2)) == Indices{0, 1});
    CHECK(sorted(top_k_indices(Values{1, 9, nan, 8}, 2)) == Indices{1, 2});
    CHECK(sorted(top_k_indices(Values{3, 1}, 2)) == Indices{0, 1});
    CHECK(top_k_indices(Values{3, 1}, 0).empty());
    CHECK(top_k_indices(Values{}, 0).empty());
}

TEST_CASE("the top-k hook leaves the same mean of what was sent on all ranks") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(0, 1, 5, 1000);
    CAPTURE(ranks, n);
    const auto found = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const Values mine =
            draw({n}, static_cast<uint64_t>(group.rank())).to_vector<float>();
        return averages(top_k_hook(0.01), group, {mine})[0];
    });
    const auto k = static_cast<size_t>((n + 99) / 100);
    Values expected(static_cast<size_t>(n));
    for (int rank = 0; rank < ranks; ++rank) {
        const Values mine = draw({n}, static_cast<uint64_t>(rank)).to_vector<float>();
        for (const int64_t index : top_k_indices(mine, k))
            expected[static_cast<size_t>(index)] +=
                mine[static_cast<size_t>(index)] * (1.0f / static_cast<float>(ranks));
    }
    for (const Values& values : found) CHECK(values == expected);
}

TEST_CASE("top-k of all values is the average") {
    const auto found = on_ranks(2, [](dist::ProcessGroup& group) {
        const float sign = group.rank() == 0 ? 1.0f : -3.0f;
        return averages(top_k_hook(1.0), group, {{sign, 2 * sign, 3}})[0];
    });
    CHECK(found[0] == Values{-1, -2, 3});
    CHECK(found[1] == found[0]);
}

TEST_CASE("top_k_hook rejects a ratio that is not above 0 and at most 1") {
    for (const double ratio : {0.0, -1.0, 1.5, std::nan("")})
        CHECK_THROWS_AS(top_k_hook(ratio), UsageError);
}

TEST_CASE("with error feedback what was sent differs from the sum by the last error") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(ranks);
    const std::vector<CommHook (*)()> hooks{[] { return top_k_hook(0.1); },
                                            fp16_compress_hook, bf16_compress_hook,
                                            allreduce_hook};
    for (const auto& make : hooks) {
        const int steps = 40;
        struct Totals {
            Values exact, sent;
        };
        const auto totals = on_ranks(ranks, [&](dist::ProcessGroup& group) {
            const Values mine =
                draw({30}, static_cast<uint64_t>(group.rank())).to_vector<float>();
            Totals result{.exact = mine, .sent = Values(30)};
            const auto each = averages(error_feedback_hook(make()), group,
                                       std::vector<Values>(steps, mine));
            for (const Values& step : each)
                for (size_t i = 0; i < 30; ++i) result.sent[i] += step[i] / steps;
            return result;
        });
        Values exact(30);
        for (const Totals& rank : totals)
            for (size_t i = 0; i < 30; ++i)
                exact[i] += rank.exact[i] / static_cast<float>(ranks);
        // Top-k sends every index within about 10 of its 40 steps.
        CHECK(largest_difference(totals[0].sent, exact) < 0.5);
        if (ranks == 1) CHECK(relative_error(totals[0].sent, exact) < 0.2);
        for (const Totals& rank : totals) CHECK(rank.sent == totals[0].sent);
    }
}

TEST_CASE("error feedback changes no result of a hook that sends everything") {
    const auto found = on_ranks(3, [](dist::ProcessGroup& group) {
        const auto rank = static_cast<float>(group.rank());
        const std::vector<Values> steps{{rank, 1}, {3 * rank, 2}, {0.1f, -rank}};
        return std::pair(averages(error_feedback_hook(allreduce_hook()), group, steps),
                         averages(allreduce_hook(), group, steps));
    });
    for (const auto& [with_feedback, without] : found) CHECK(with_feedback == without);
}

TEST_CASE("each bucket has an error of its own") {
    const auto found = on_ranks(1, [](dist::ProcessGroup& group) {
        const CommHook hook = error_feedback_hook(top_k_hook(0.5));
        const std::vector<Values> gradients{{4, 1}, {5, 2}};
        std::vector<Tensor> buffers{Tensor::zeros({2}), Tensor::zeros({2})};
        for (int step = 0; step < 2; ++step)
            for (size_t index = 0; index < 2; ++index) {
                ops::copy_(buffers[index],
                           Tensor::from(step == 0 ? gradients[index] : Values{0, 0}));
                hook(bucket_of(index, buffers[index]), group)();
            }
        return std::vector<Values>{buffers[0].to_vector<float>(),
                                   buffers[1].to_vector<float>()};
    });
    CHECK(found[0] == std::vector<Values>{{0, 1}, {0, 2}});
}

TEST_CASE("orthogonalize keeps orthonormal columns and clears dependent ones") {
    // The columns (3, 4, 0) and (6, 8, 0), a multiple, and (1, 1, 2).
    Tensor matrix = Tensor::from(Values{3, 6, 1, 4, 8, 1, 0, 0, 2}, {3, 3});
    orthogonalize(matrix);
    const auto found = matrix.to_vector<float>();
    const Values expected{0.6f, 0, 0.0796030f, 0.8f, 0, -0.0597022f, 0, 0, 0.9950372f};
    CHECK(largest_difference(found, expected) < 1e-6);
}

TEST_CASE("nearly parallel columns are orthogonal up to the rounding of floats") {
    Values values;
    for (const float x : draw({200}, 4).to_vector<float>())
        values.insert(values.end(), {x, x + 1e-3f * x * x});
    Tensor matrix = Tensor::from(values, {200, 2});
    orthogonalize(matrix);
    const auto found = matrix.to_vector<float>();
    double product = 0.0;
    for (size_t i = 0; i < found.size(); i += 2)
        product += static_cast<double>(found[i]) * found[i + 1];
    CHECK(std::abs(product) < 1e-6);
}
