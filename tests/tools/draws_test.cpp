// The built `mini random`, compared with PyTorch's draws.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/json_answer.hpp"

using mini::test::Answer;
using mini::test::contains;
using mini::test::json_of_mini;
using mini::test::run_mini;

namespace {

std::vector<float> drawn(const std::string& arguments) {
    return json_of_mini(fmt::format("random {} --format json", arguments))
        .get<std::vector<float>>();
}

}  // namespace

TEST_CASE("mini random prints the numbers of torch.rand and randn with both roundings") {
    for (const std::string rounding : {"fused", "separate"}) {
        const auto cases =
            golden_cases(rounding == "fused" ? "rand_randn" : "rand_randn_separate");
        for (size_t k = 0; k < cases.size(); k += 7) {
            const auto& c = cases[k];
            const auto same =
                fmt::format("--n {} --seed {}", c.at("n").dump(), c.at("seed").dump());
            const auto and_rounding =
                rounding == "fused" ? same : same + " --rounding separate";
            CHECK(digest(drawn("uniform " + same)) ==
                  c.at("rand").at("sha256_le_float32").get<std::string>());
            CHECK(digest(drawn("normal " + and_rounding)) ==
                  c.at("randn").at("sha256_le_float32").get<std::string>());
        }
    }
}

TEST_CASE("mini random takes bounds and moments and draws Bernoulli numbers") {
    CHECK(drawn("uniform --n 2 --from -0.7071067811865476 --to 0.7071067811865476") ==
          std::vector<float>{-0.005293981172144413f, 0.37932288646698f});
    CHECK(drawn("normal --n 3 --mean 2 --std 0") == std::vector<float>{2, 2, 2});
    CHECK(drawn("bernoulli --n 3 --p 1") == std::vector<float>{1, 1, 1});
    CHECK(drawn("uniform --n 0").empty());
    CHECK(run_mini("random uniform --n 1").text == "0.49625658988952637\n");
}

TEST_CASE("mini random with invalid options prints an error and exits with code 2") {
    for (const char* words :
         {"bernoulli --p 2", "bernoulli --p nan", "normal --std -1", "uniform --n -1",
          "uniform --to inf", "gamma", "normal --rounding up"}) {
        const Answer answer = run_mini(fmt::format("random {}", words));
        CAPTURE(words, answer.text);
        CHECK(answer.code == 2);
        CHECK(contains(answer.text, "mini: "));
    }
}
