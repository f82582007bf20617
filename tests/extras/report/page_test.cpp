#include "libmini/extras/report/page.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/trace.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using report::Lane;
using test::contains;

namespace {

report::Slice part(const char* name, int64_t begin, int64_t end) {
    return {.name = name, .begin = begin, .end = end};
}

report::Slice bucket(int64_t index, int64_t begin, int64_t end) {
    return {.name = concat("all_reduce bucket ", index),
            .lane = Lane::kCommunication,
            .begin = begin,
            .end = end,
            .bucket = index,
            .bytes = 400,
            .sequence = index};
}

// A step with one bucket that is hidden, and one of which a third is hidden.
report::RankTrace traced(int rank) {
    report::RankTrace trace{.rank = rank, .slices = {}, .moments = {}};
    trace.slices = {part("step", 0, 1000),       part("forward", 100, 300),
                    part("backward", 300, 900),  part("waiting", 700, 900),
                    part("optimizer", 900, 990), bucket(0, 400, 600),
                    bucket(1, 600, 900)};
    trace.slices[0].step = 5;
    trace.moments = {{.name = "gradient ready fc2.bias", .time = 340},
                     {.name = "bucket 0 launched", .time = 350, .bucket = 0},
                     {.name = "bucket 1 launched", .time = 590, .bucket = 1},
                     {.name = "bucket 0 launched", .time = 1350, .bucket = 0}};
    return trace;
}

report::RunRecord run_named(const std::string& name) {
    report::RunRecord run{.name = name,
                          .metrics = {.run = {.program = "train_mnist",
                                              .options = {{"lr", "<b>0.5"}},
                                              .world_size = 2,
                                              .backend = "ring"},
                                      .steps = {},
                                      .epochs = {}},
                          .trace = {}};
    return run;
}

report::RunRecord whole_run(const std::string& name) {
    report::RunRecord run = run_named(name);
    for (int64_t step = 0; step < 1000; ++step)
        for (const int rank : {0, 1})
            run.metrics.steps.push_back(
                {.rank = rank,
                 .step = step,
                 .loss = step == 7 ? std::numeric_limits<double>::quiet_NaN() : 1.0,
                 .times = {.forward = 0.5}});
    run.metrics.epochs = {{.epoch = 0, .steps = 1000, .test_accuracy = 0.75}};
    run.trace = {traced(0), traced(1)};
    return run;
}

}  // namespace

TEST_CASE("the accuracy of one epoch is on an axis that ends at 1") {
    report::RunRecord run = run_named("first");
    run.metrics.epochs = {{.epoch = 0, .steps = 10, .test_accuracy = 0.99}};
    const std::string page = report::page_of(run);
    CHECK(contains(page, ">0.8</text>"));
    CHECK(contains(page, ">1</text>"));
    for (const char* tick :
         {">1.02</text>", ">1.05</text>", ">1.1</text>", ">1.2</text>"})
        CHECK_FALSE(contains(page, tick));
}

TEST_CASE("communication is hidden until backward ends") {
    const auto steps = report::steps_of(traced(0));
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].backward_end == 700);
    REQUIRE(steps[0].launches.size() == 2);
    CHECK(steps[0].launches[1].time == 590);
    const report::Overlap overlap = report::overlap_of(steps);
    CHECK(overlap.communication == Approx(500e-9));
    CHECK(overlap.hidden == Approx(300e-9));
    CHECK(overlap.waiting == Approx(200e-9));
    CHECK(overlap.share() == Approx(0.6));
}

TEST_CASE("a page has all parts, is small and needs no network") {
    const std::string page = report::page_of(whole_run("first"));
    for (const char* heading : {"Loss and accuracy", "Step time by phase and rank",
                                "One step", "Communication hidden under backward"})
        CHECK(contains(page, concat("<h2>", heading, "</h2>")));
    CHECK(page.size() < 300000);
    CHECK(contains(page, "<b>first</b>"));
    CHECK(contains(page, "&lt;b&gt;0.5"));
    CHECK_FALSE(contains(page, "<b>0.5"));
    for (const char* loads :
         {"<script", "src=\"http", "href=\"http", "@import", "url(http"})
        CHECK_FALSE(contains(page, loads));
}

TEST_CASE("a page shows a run that has only begun") {
    const std::string begun = report::page_of(run_named("begun"));
    CHECK(contains(begun, "<b>begun</b>"));
    CHECK_FALSE(contains(begun, "<h2>"));
}
