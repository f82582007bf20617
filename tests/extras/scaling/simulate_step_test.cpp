// mini simulate step: its rows, the reports that it reads, and the options that it
// rejects.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json_answer.hpp"

using namespace mini;
using mini::test::Answer;
using mini::test::contains;
using mini::test::json_of_mini;
using mini::test::run_mini;

namespace {

nlohmann::json simulated_steps(const std::string& arguments) {
    return json_of_mini("simulate step --format json " + arguments);
}

TEST_CASE("mini simulate step is never slower with overlap than without") {
    for (const std::string options :
         {"--model resnet50 --link 100Gbit,10us", "--model bert --link 10Gbit,50us",
          "--model resnet50 --link '25Gbit,20us; hosts of 4: 400Gbit,3us'"}) {
        const std::string arguments = "--ranks 2,8 --bucket-cap-mb 1,25,1000 " + options;
        const auto with = simulated_steps(arguments)["rows"];
        const auto without = simulated_steps(arguments + " --no-overlap")["rows"];
        REQUIRE(with.size() == 6);
        for (size_t i = 0; i < with.size(); ++i) {
            CAPTURE(options, with[i].dump(), without[i].dump());
            CHECK(with[i]["step_seconds"] <= without[i]["step_seconds"]);
        }
    }
}

TEST_CASE("mini simulate step prints a row for each number of ranks and bucket size") {
    const Answer answer =
        run_mini("simulate step --ranks 1,2 --bucket-cap-mb 0,25 --slow-rank 0:1.5");
    CHECK(answer.code == 0);
    CHECK(contains(answer.text,
                   "# resnet50: 25,557,032 parameters in 161 gradients; "
                   "forward 35.00 ms, backward 70.00 ms\n"));
    CHECK(contains(answer.text, ", slow ranks 0:1.5\n"));
    CHECK(std::ranges::count(answer.text, '\n') == 3 + 4);
    CHECK(contains(answer.text, "\n     1        0      161      157.50      0.00"));
}

TEST_CASE("mini simulate step reads a report of train_mnist and its bucket size") {
    const test::Folder folder;
    const std::string path = folder / "run.json";
    std::ofstream(path) << R"({"bucket_cap_mb": 0.02, "statistics": {"forward_s": 0.002,
        "backward_s": 0.005, "gradients": [{"bytes": 2000, "ready_s": 0.001},
        {"bytes": 64000, "ready_s": 0.002}, {"bytes": 40, "ready_s": 0.005}]}})";
    const auto run = simulated_steps("--ranks 1,2 --from " + path);
    CHECK(run["parameters"] == (2000 + 64000 + 40) / 4);
    REQUIRE(run["rows"].size() == 2);
    CHECK(run["rows"][0]["bucket_cap_mb"] == 0.02);
    CHECK(run["rows"][0]["buckets"] == 2);
    CHECK(std::abs(run["rows"][0]["step_seconds"].get<double>() - 0.007) < 1e-9);
    CHECK(run["rows"][1]["exposed_seconds"] > 0.0);
    CHECK(simulated_steps("--ranks 2 --bucket-cap-mb 0 --from " +
                          path)["rows"][0]["buckets"] == 3);
}

TEST_CASE("mini simulate step rejects an invalid report with the path and the reason") {
    const test::Folder folder;
    const std::string path = folder / "run.json";
    const auto error = [&](const std::string& text) {
        std::ofstream(path) << text;
        const Answer answer = run_mini("simulate step --from " + path);
        CHECK(answer.code == 1);
        CHECK(contains(answer.text, path));
        return answer.text;
    };
    const std::string head = R"({"bucket_cap_mb": 25, "statistics": {"forward_s": 1, )";
    CHECK(contains(error("no JSON"), "not a report of train_mnist --json"));
    CHECK(contains(error("{}"), "statistics"));
    CHECK(contains(error(head + R"("gradients": []}})"), "backward_s"));
    CHECK(contains(error(head + R"("backward_s": 1, "gradients": []}})"), "--sync ddp"));
    CHECK(contains(error(head + R"("backward_s": -1, "gradients": []}})"),
                   "backward_s is -1"));
    CHECK(contains(error(head + R"("backward_s": 1, "gradients": [{"bytes": 6,
                                  "ready_s": 0}]}})"),
                   "a gradient has 6 bytes"));
    CHECK(run_mini("simulate step --from " + (folder / "none.json")).code == 1);
}

TEST_CASE("mini simulate step names an invalid option before it prints a row") {
    const auto error = [](const std::string& arguments) {
        const Answer answer = run_mini("simulate step " + arguments);
        CAPTURE(arguments);
        CHECK(answer.code == 2);
        CHECK_FALSE(contains(answer.text, "step ms"));
        return answer.text;
    };
    CHECK(contains(error("--ranks 2,0"), "--ranks"));
    CHECK(contains(error("--ranks 4097"), "--ranks"));
    CHECK(contains(error("--bucket-cap-mb 1,-1"), "--bucket-cap-mb is -1"));
    CHECK(contains(error("--bucket-cap-mb nan"), "--bucket-cap-mb is nan"));
    CHECK(contains(error("--model vgg"), "--model"));
    CHECK(contains(error("--algorithm star"), "all_reduce algorithm \"star\""));
    CHECK(contains(error("--link fast"), "\"fast\" is not like"));
    CHECK(contains(error("--forward-ms -1"), "--forward-ms is -1"));
    CHECK(contains(error("--backward-ms 1e9"), "--backward-ms is 1e+09"));
    for (const std::string slow : {"3", "3:", "3:0.5", "a:2", "3:2x", "-1:2"})
        CHECK(contains(error("--ranks 8 --slow-rank=" + slow), "--slow-rank: \""));
    CHECK(contains(error("--ranks 8,2 --slow-rank 3:2"), "there is no rank 3"));
    CHECK(contains(error("--from run.json --model bert"), "--model cannot be given"));
    CHECK(contains(error("--from run.json --forward-ms 1"), "--forward-ms cannot"));
}

}  // namespace
