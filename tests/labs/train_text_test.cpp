// train_text under minirun trains on the course's pages, alike on any number of ranks.

#include <string>
#include <vector>

#include "tests/labs/program_job.hpp"

using namespace mini::test;

namespace {

const Words kShort{"--text",       MINI_GOLDEN_DIR "/../../labs",
                   "--steps",      "6",
                   "--every",      "3",
                   "--batch-size", "12",
                   "--sample",     "20"};

}  // namespace

TEST_CASE("train_text has the same losses and replicas on 1 to 4 ranks") {
    const auto alone = json_of(1, "train_text", kShort);
    const auto losses = alone.at("train_loss").get<std::vector<double>>();
    REQUIRE(losses.size() == 3);  // steps 1, 3 and 6
    CHECK(losses.back() < losses.front() - 0.5);
    for (const int ranks : {2, 3, 4}) {
        CAPTURE(ranks);
        const auto json = json_of(ranks, "train_text", kShort);
        // The gradients are summed in another order, which changes a loss of about 4 by a
        // part of 4e-7 in 50 steps of AdamW (float32_error of gpt.json): four times that.
        CHECK(distance(json.at("train_loss"), alone.at("train_loss")) < 4 * 4 * 4e-7);
        CHECK(distance(json.at("validation_loss"), alone.at("validation_loss")) <
              4 * 4 * 4e-7);
        check_replicas(json.at("parameters_sha256"), ranks);
    }
}

TEST_CASE("train_text --fsdp has the losses and the parameters of DDP") {
    const Words sharded = kShort + Words{"--fsdp"};
    for (const int ranks : {1, 2}) {  // sums of at most two terms have one order
        CAPTURE(ranks);
        CHECK(json_of(ranks, "train_text", sharded) ==
              json_of(ranks, "train_text", kShort));
    }
    const auto json = json_of(3, "train_text", sharded);
    CHECK(distance(json.at("train_loss"),
                   json_of(3, "train_text", kShort).at("train_loss")) < 4 * 4 * 4e-7);
    check_replicas(json.at("parameters_sha256"), 3);
}

TEST_CASE("train_text is bitwise reproducible, depends on --seed and writes a sample") {
    const auto first = json_of(2, "train_text", kShort);
    CHECK(first == json_of(2, "train_text", kShort));
    CHECK(first.at("sample").get<std::string>().size() == 20);
    const auto other = json_of(2, "train_text", kShort + Words{"--seed", "5"});
    CHECK(first.at("train_loss") != other.at("train_loss"));
}

TEST_CASE("train_text explains invalid options in one line") {
    check_rejects("train_text", 3, {"--batch-size", "4"}, "--batch-size 4 cannot");
    check_rejects("train_text", 2, {"--text", "nowhere"}, "nowhere/*/README.md");
    check_help("train_text", {"--text", "--steps", "--batch-size", "--seed", "--json"});
}
