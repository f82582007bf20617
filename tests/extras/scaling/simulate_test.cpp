// mini simulate allreduce: its rows, compared with the formulas, and the options that it
// rejects.

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/json_answer.hpp"

using mini::test::Answer;
using mini::test::contains;
using mini::test::json_of_mini;
using mini::test::run_mini;

namespace {

nlohmann::json simulated(const std::string& arguments) {
    return json_of_mini("simulate allreduce --format json " + arguments);
}

TEST_CASE("mini simulate allreduce counts messages and bytes of all ranks") {
    const auto all = simulated("--ranks 5 --sizes 20,4M --algorithm ring,tree");
    CHECK(all["ranks"] == 5);
    CHECK(all["link"] == "100Gbit,10us");
    REQUIRE(all["rows"].size() == 4);
    const auto& ring = all["rows"][0];
    CHECK(ring["algorithm"] == "ring");
    CHECK(ring["size"] == 20);
    CHECK(ring["messages"] == 2 * 4 * 5);  // 2(P-1) per rank
    CHECK(ring["bytes"] == 2 * 4 * 20);    // 2(P-1)/P of 20 bytes per rank
    const auto& tree = all["rows"][3];
    CHECK(tree["algorithm"] == "tree");
    CHECK(tree["messages"] == 2 * 4);
    CHECK(tree["bytes"] == int64_t{2} * 4 * (4 << 20));
}

TEST_CASE("mini simulate allreduce takes the formula's time on equal links") {
    const auto all = simulated(
        "--ranks 16 --sizes 64K --algorithm naive,ring,tree,recursive-doubling,"
        "halving-doubling --link 8Gbit,50us");
    for (const auto& row : all["rows"]) {
        CAPTURE(row.dump());
        const double formula = row["formula_seconds"], seconds = row["seconds"];
        CHECK(std::abs(seconds - formula) <= 0.01 * formula);
    }
}

TEST_CASE("mini simulate allreduce leaves out a formula that does not apply") {
    for (const std::string options :
         {"--link '8Gbit,50us; hosts of 2: 80Gbit,1us'", "--link '8Gbit; rank 1 at 0.5'",
          "--algorithm hierarchical", "--algorithm auto"}) {
        const auto rows = simulated("--ranks 4 --sizes 1M --algorithm ring " + options);
        CAPTURE(options);
        CHECK(rows["rows"].back()["formula_seconds"].is_null());
    }
    CHECK(simulated("--ranks 4 --sizes 1M --algorithm auto")["rows"][0]["algorithm"] ==
          "ring");  // the algorithm that auto chooses
}

TEST_CASE("mini simulate allreduce prints a table that names its ranks, links and seed") {
    const Answer answer =
        run_mini("simulate allreduce --ranks 4 --sizes 1K --algorithm ring --seed 7");
    CHECK(answer.code == 0);
    CHECK(contains(answer.text, "# 4 ranks, links 100Gbit,10us, seed 7\n"));
    CHECK(contains(answer.text, "formula us"));
    CHECK(contains(answer.text, "\nring                        1024          60.12"));
}

TEST_CASE("mini simulate allreduce rejects invalid options before it prints a row") {
    const auto error = [](const std::string& arguments) {
        const Answer answer = run_mini("simulate allreduce " + arguments);
        CHECK(answer.code == 2);
        CHECK_FALSE(contains(answer.text, "virtual us"));
        return answer.text;
    };
    CHECK(contains(error("--algorithm ring,star"), "all_reduce algorithm \"star\""));
    CHECK(contains(error("--link fast"), "\"fast\" is not like"));
    CHECK(contains(error("--sizes none"), "--sizes"));
    CHECK(contains(error("--ranks 0"), "--ranks"));
    CHECK(run_mini("simulate").code == 2);
}

}  // namespace
