// Jobs with faults that a seed chooses: all seeds give the expected ends, and check()
// detects wrong ends.

#include "tests/faults/search/fault_run.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/sanitizers.hpp"

namespace mini::test {
namespace {

TEST_CASE("jobs with faults from many seeds end as expected") {
    const uint64_t seeds = kSanitized ? 200 : 1000;
    std::map<Fault, int> happened;
    for (uint64_t seed = 0; seed < seeds; ++seed) {
        const FaultPlan plan = plan_of(seed);
        const FaultResult result = play(plan);
        happened[plan.fault] += result.happened;
        INFO(story_of(plan, result));
        REQUIRE(result.error.empty());
    }
    for (const Fault fault :
         {Fault::kSlow, Fault::kPause, Fault::kKill, Fault::kStop, Fault::kHold,
          Fault::kMismatch, Fault::kCut, Fault::kFlood, Fault::kPartition,
          Fault::kNoMemory, Fault::kNeverComes, Fault::kTwoOfOne, Fault::kStranger}) {
        CAPTURE(fault_name(fault));
        CHECK(happened[fault] > 0);
    }
}

TEST_CASE("the same seed gives the same job and the same story") {
    for (const uint64_t seed : {1, 12, 31}) {
        const FaultPlan plan = plan_of(seed);
        CHECK(describe(plan) == describe(plan_of(seed)));
        CHECK(story_of(plan, play(plan)) == story_of(plan, play(plan)));
    }
    CHECK(describe(plan_of(1)) != describe(plan_of(2)));
}

// The result of a job with one fault is checked against plans with other faults.
TEST_CASE("the error of a job that does not end as expected names the rank") {
    FaultPlan plan = plan_of(0);
    plan.world_size = 3;
    plan.is_whole = false;
    plan.links = dist::parse_links("10Gbit,20us");
    plan.calls = {{dist::Algorithm::kRing, 64}};
    plan.fault = Fault::kStop;
    plan.victim = 1;
    plan.step = 20;
    FaultResult result = play(plan);
    REQUIRE(result.error.empty());
    CHECK(
        contains(story_of(plan, result), "stop rank 1 at step 20\n  rank 0 threw at 2."));

    // Check the same ends against a plan that stops rank 2, and against other plans.
    const auto error = [&] {
        result.error = "";
        check(plan, result);
        return result.error;
    };
    plan.victim = 2;
    CHECK(error() == "rank 0: it names a rank that has not failed");
    plan.fault = Fault::kKill;
    CHECK(error() == "rank 0: it throws another kind of error");
    plan.fault = Fault::kNone;
    CHECK(error() == "rank 0: it throws, though no rank has failed");

    plan.fault = Fault::kStop;
    plan.victim = 1;
    result.ends[0].time = std::chrono::seconds(60);
    CHECK(error() == "rank 0: it throws after its deadline");
    result.ends[0].how = dist::ProcessEnd::How::kStuck;
    CHECK(error() == "rank 0: it waits forever");
}

TEST_CASE("fault_search counts the jobs of many seeds or prints the story of one") {
    const auto search = [](const std::string& arguments) {
        return run_shell(MINI_BIN_DIR "/fault_search " + arguments);
    };
    const Answer many = search("--seeds 20 --first 5");
    CHECK(many.code == 0);
    CHECK(contains(many.text, "20 jobs: 0 wrong"));
    CHECK(contains(many.text, "kill "));
    const Answer one = search("--seed 31");
    CHECK(one.code == 0);
    CHECK(contains(one.text, "seed 31: 9 ranks, naive of 1, halving-doubling of 64"));
    CHECK(
        contains(one.text, "\n  rank 8 threw at 0.000218 s: rank 0 reports: mismatched"));
    CHECK(search("--seeds 0").code == 2);
}

}  // namespace
}  // namespace mini::test
