// The checks of lab 18, task 18.3: only the largest gradients are sent.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "labs/18-compressing-gradients/test_support.hpp"
#include "libmini/parallel/error_feedback.hpp"
#include "libmini/parallel/top_k.hpp"

using namespace mini;
using namespace mini::lab18;
using parallel::top_k_hook;

namespace {

using Indices = std::vector<int64_t>;

Indices chosen(const Values& values, size_t k) {
    Indices indices = parallel::top_k_indices(values, k);
    std::ranges::sort(indices);
    return indices;
}

}  // namespace

TEST_CASE("the largest magnitudes are chosen", "[lab18][lab18.3]") {
    const Values values{1, -5, 0, 4, -2};
    INFO("the gradients " << in_words(values)
                          << ": the two largest magnitudes are -5 at 1");
    INFO("and 4 at 3; the sign does not matter, and an index is not a magnitude;");
    INFO("got " << concat(chosen(values, 2)) << "");
    CHECK(chosen(values, 2) == Indices{1, 3});
    CHECK(chosen(values, 4) == Indices{0, 1, 3, 4});
    CHECK(chosen(values, 5) == Indices{0, 1, 2, 3, 4});
    CHECK(chosen(values, 0).empty());
    CHECK(chosen({}, 0).empty());
}

TEST_CASE("of equal magnitudes the smaller index is chosen", "[lab18][lab18.3]") {
    Values values(100, -0.5f);
    for (size_t i = 0; i < values.size(); i += 2) values[i] = 0.5f;
    values[70] = 3;
    Indices expected;
    for (int64_t i = 0; i < 19; ++i) expected.push_back(i);
    expected.push_back(70);
    INFO("100 gradients of magnitude 0.5, except for 3 at 70; 20 are chosen: 70 and the");
    INFO("first 19; got " << concat(chosen(values, 20)));
    CHECK(chosen(values, 20) == expected);
}

TEST_CASE("a gradient that is not a number is chosen", "[lab18][lab18.3]") {
    const Values values{7, std::numeric_limits<float>::quiet_NaN(), 9, 8};
    INFO(
        "7 NaN 9 8: a NaN must be seen on all ranks, so it counts as infinite; a NaN is");
    INFO("neither smaller nor larger than 9");
    CHECK(chosen(values, 1) == Indices{1});
    CHECK(chosen(values, 2) == Indices{1, 2});
}

TEST_CASE("values and indices are gathered in two collectives", "[lab18][lab18.3]") {
    const auto steps = on_ranks(2, [](dist::ProcessGroup& group) {
        return run_once(
            top_k_hook(0.25), group,
            group.rank() == 0 ? Values{0, 9, 0, 0, 0} : Values{5, 0, 0, -6, 0});
    });
    for (const Step& step : steps) {
        INFO(
            "a quarter of 5 gradients, rounded up: 2 values of 4 bytes and 2 indices of "
            "8");
        INFO("before the hook returned: " << in_words(step.starting) << "; afterwards: "
                                          << in_words(step.finishing) << "");
        Journal starts = step.starting;
        std::ranges::sort(starts);
        CHECK(starts == Journal{"start all_gather 16", "start all_gather 8"});
        CHECK(step.finishing.size() == 2);
        for (const std::string& line : step.finishing)
            CHECK(line.starts_with("wait all_gather"));
        INFO("rank 0 sends 9 at 1, and rank 1 sends 5 at 0 and -6 at 3: the mean is");
        INFO("2.5 4.5 0 -3 0; got " << in_words(step.result)
                                    << "; each rank's values need");
        INFO("a tensor of their own, since copies of a Tensor share their elements");
        CHECK(step.result == Values{2.5f, 4.5f, 0, -3, 0});
    }
}

TEST_CASE("every rank gets the mean of what the ranks have sent", "[lab18][lab18.3]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = 40;  // 4 of them are sent
    const auto steps = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        return run_once(top_k_hook(0.1), group,
                        draw(n, static_cast<uint64_t>(group.rank() / 2)));
    });
    Values expected(static_cast<size_t>(n));
    for (int rank = 0; rank < ranks; ++rank) {
        const Values mine = draw(n, static_cast<uint64_t>(rank / 2));
        Values sorted = mine;
        std::ranges::sort(sorted, std::ranges::greater(),
                          [](float x) { return std::abs(x); });
        for (size_t i = 0; i < mine.size(); ++i)
            if (std::abs(mine[i]) >= std::abs(sorted[3]))
                expected[i] += mine[i] / static_cast<float>(ranks);
    }
    for (size_t rank = 0; rank < steps.size(); ++rank) {
        INFO("rank " << rank << " of " << ranks
                     << ", 40 gradients, 4 of each rank are sent");
        INFO(
            "some ranks send the same indices: there both values count; at an index "
            "that");
        INFO("no rank has sent the mean is 0, not this rank's own gradient");
        INFO("should be " << in_words(expected) << "; got "
                          << in_words(steps[rank].result));
        CHECK(largest_difference(steps[rank].result, expected) < 1e-6);
        CHECK(steps[rank].result == steps[0].result);
    }
}

TEST_CASE("what top-k has sent is this rank's own values and zero elsewhere",
          "[lab18][lab18.3]") {
    const auto steps = on_ranks(2, [](dist::ProcessGroup& group) {
        return run_once(top_k_hook(0.5), group,
                        group.rank() == 0 ? Values{1, -8, 2, 6} : Values{7, 3, -5, 4},
                        true);
    });
    INFO("rank 0 has 1 -8 2 6 and rank 1 has 7 3 -5 4; two of them are sent");
    INFO("`sent` is not divided, and has nothing of the other rank; got "
         << in_words(steps[0].sent) << " and " << in_words(steps[1].sent));
    CHECK(steps[0].sent == Values{0, -8, 0, 6});
    CHECK(steps[1].sent == Values{7, 0, -5, 0});
    CHECK(steps[0].result == Values{3.5f, -4, -2.5f, 3});
}

TEST_CASE("the largest of the whole bucket are sent", "[lab18][lab18.3]") {
    const auto found = on_ranks(1, [](dist::ProcessGroup& group) {
        TestBucket test({{2}, {2, 2}});
        test.set({1, 2, 7, -9, 3, 8});
        test.start(top_k_hook(0.5), group)();
        return test.values();
    })[0];
    INFO("a bucket with the gradients 1 2 and 7 -9 3 8; half of six are sent, and they");
    INFO("are all in the second gradient");
    CHECK(found == Values{0, 0, 7, -9, 0, 8});

    INFO("a ratio must be above 0 and at most 1");
    for (const double ratio : {0.0, -0.5, 1.5, std::nan("")})
        CHECK_THROWS_AS(top_k_hook(ratio), UsageError);
    CHECK_NOTHROW(top_k_hook(1));
}

TEST_CASE("with error feedback a small gradient is sent when its sum is large",
          "[lab18][lab18.3]") {
    const auto found = on_ranks(2, [](dist::ProcessGroup& group) {
        const CommHook hook = parallel::error_feedback_hook(top_k_hook(0.5));
        TestBucket test({Shape{2}});
        std::vector<Values> steps;
        for (int step = 0; step < 4; ++step) {
            test.set({group.rank() == 0 ? 5.0f : -5.0f, 2});
            test.start(hook, group)();
            steps.push_back(test.values());
        }
        return steps;
    })[0];
    INFO(
        "two ranks with the gradients 5 2 and -5 2 in each of four steps, and k = 1: "
        "the");
    INFO("sums of the second are 2 4 6 2, so it is sent in the third step");
    CHECK(found == std::vector<Values>{{0, 0}, {0, 0}, {0, 6}, {0, 0}});
}
