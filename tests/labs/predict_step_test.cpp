// The predictions of lab 20's program, from files like those of the tools.

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/prediction.hpp"
#include "libmini/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace mini;

namespace {

std::string written(const test::Folder& folder, const std::string& name,
                    const std::string& text) {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    return path;
}

bool is(double seconds, double milliseconds) {
    return std::abs(seconds * 1e3 - milliseconds) < 1e-6;
}

// alpha = 1 ms and beta = 1 us: on 2 ranks 1,000 bytes take one message of 2 ms, and
// 20,000 bytes, a ring, two messages of 11 ms.
constexpr const char* kBench = R"({"ranks": 2, "rows": [
    {"size": 1000, "time_us": 2000}, {"size": 20000, "time_us": 22000}]})";

// Two steps of 13 ms in all, 3 ms of which are neither forward nor backward.
constexpr const char* kRun = R"({"seconds_per_epoch": [0.026], "statistics": {
    "iterations": 2, "forward_s": 0.004, "backward_s": 0.006,
    "compute_s": [0.008, 0.012],
    "gradients": [{"bytes": 1000, "ready_s": 0.001},
                  {"bytes": 2000, "ready_s": 0.006}]}})";

TEST_CASE(
    "predict_step: the bench's rows are fitted as messages and bytes of their "
    "algorithms") {
    const test::Folder folder;
    const auto link = lab20::fit_bench(written(folder, "bench.json", kBench));
    CHECK(is(link.fit.alpha, 1));
    CHECK(is(link.fit.beta * 1e3, 1));
    CHECK(link.largest_error < 1e-9);
    CHECK(is(lab20::all_reduce_seconds(link.fit, 2, 1000), 2));
    CHECK(is(lab20::all_reduce_seconds(link.fit, 4, 1000), 4));
    CHECK(is(lab20::all_reduce_seconds(link.fit, 4, 20000), 6 * (1 + 5)));
}

TEST_CASE("predict_step: a step is predicted from the parts, for each way to exchange") {
    const test::Folder folder;
    const std::string run = written(folder, "run.json", kRun);
    const auto rank = lab20::read_computation({run, run});
    CHECK(is(rank.step(), 13));
    CHECK(is(rank.others, 3));
    const auto rows = lab20::predict(rank, {.alpha = 1e-3, .beta = 1e-6}, 2, 0);
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].sync == "none");
    CHECK(is(rows[0].step, 13));
    // The slower of two ranks takes 11 ms on average, 1 ms more than one rank.
    CHECK(rows[1].sync == "average");
    CHECK(is(rows[1].step, 13 + 1 + 2 + 3));
    CHECK(rows[2].sync == "flat");
    CHECK(is(rows[2].step, 13 + 1 + 4));
    // Two buckets: one from 1 to 3 ms, within backward, and one from 6 to 9 ms.
    CHECK(rows[3].sync == "ddp");
    CHECK(is(rows[3].step, 3 + 4 + 1 + 9));
    CHECK(std::abs(rows[3].hidden - 2.0 / 5) < 1e-9);
}

TEST_CASE("predict_step: a file that is missing or not a report is named") {
    const test::Folder folder;
    CHECK_THROWS_AS(lab20::fit_bench(folder / "none.json"), BadFile);
    CHECK_THROWS_AS(lab20::fit_bench(written(folder, "a.json", "{}")), BadFile);
    CHECK_THROWS_AS(lab20::read_computation({written(folder, "b.json", "no JSON")}),
                    BadFile);
    CHECK_THROWS_AS(lab20::read_computation({}), UsageError);
}

}  // namespace
