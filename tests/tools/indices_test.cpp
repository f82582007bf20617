// The built `mini indices`, compared with PyTorch's and Python's orders.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/json_answer.hpp"

using mini::test::Answer;
using mini::test::contains;
using mini::test::json_of_mini;
using mini::test::run_mini;

namespace {

Answer indices(const std::string& arguments) { return run_mini("indices " + arguments); }

std::vector<int64_t> listed(const std::string& arguments) {
    return json_of_mini(fmt::format("indices {} --format json", arguments))
        .get<std::vector<int64_t>>();
}

// Returns the elements of a list, numbers or texts, with commas between them.
std::string joined(const nlohmann::json& list) {
    std::string text = list.dump();
    std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '"'; });
    return text;
}

}  // namespace

TEST_CASE("mini indices distributed gives every rank PyTorch's samples") {
    const auto cases = golden_cases("distributed_sampler");
    int checked = 0;
    // Not all cases: each starts a process, and the sampler's own tests check all.
    for (size_t k = 0; k < cases.size(); k += 41) {
        const auto& c = cases[k];
        const auto mine = listed(fmt::format(
            "distributed --len {} --replicas {} --rank {} --epoch {} --seed {}{}{}",
            c.at("n").get<int64_t>(), c.at("replicas").get<int>(),
            c.at("rank").get<int>(), c.at("epoch").get<int>(),
            c.at("seed").get<int64_t>(),
            c.at("shuffle").get<bool>() ? "" : " --no-shuffle",
            c.at("drop_last").get<bool>() ? " --drop-last" : ""));
        REQUIRE(digest(mine) == c.at("indices").at("sha256_le_int64").get<std::string>());
        ++checked;
    }
    CHECK(checked > 24);
}

TEST_CASE("mini indices randperm gives torch.randperm's order") {
    for (const auto& c : golden_cases("randperm")) {
        const auto order =
            listed(fmt::format("randperm --n {} --seed {}", c.at("n").get<int64_t>(),
                               c.at("seed").get<int64_t>()));
        CHECK(digest(order) == c.at("perm").at("sha256_le_int64").get<std::string>());
    }
}

TEST_CASE("mini indices random and weighted give PyTorch's orders") {
    int random = 0, weighted = 0;
    for (const auto& c : golden_cases("samplers")) {
        const std::string sampler = c.at("sampler");
        std::string arguments;
        if (sampler == "RandomSampler" && c.at("how") == "generator=g") {
            ++random;
            arguments = fmt::format("random --len {}", c.at("n").get<int64_t>());
            if (c.at("replacement")) arguments += " --replacement";
            if (!c.at("num_samples").is_null())
                arguments += fmt::format(" --num-samples {}", c.at("num_samples").dump());
        } else if (sampler == "WeightedRandomSampler" && !c.contains("torch")) {
            ++weighted;
            arguments = fmt::format("weighted --weights {} --num-samples {}",
                                    joined(c.at("weights")), c.at("num_samples").dump());
            if (!c.at("replacement")) arguments += " --no-replacement";
        } else {
            continue;  // the tests of the samplers check all cases
        }
        arguments += fmt::format(" --seed {}", c.at("seed").dump());
        CHECK(listed(arguments) == c.at("indices").get<std::vector<int64_t>>());
    }
    CHECK(random > 20);
    CHECK(weighted > 10);
}

TEST_CASE("mini indices partition prints one list per part") {
    for (const auto& c : golden_cases("data_partitioner")) {
        if (c.at("n").get<int64_t>() > 1000) continue;
        const auto parts =
            json_of_mini(
                fmt::format(
                    "indices partition --len {} --sizes {} --seed {} --format json",
                    c.at("n").get<int64_t>(), joined(c.at("sizes_repr")),
                    c.at("seed").dump()))
                .get<std::vector<std::vector<int64_t>>>();
        REQUIRE(parts.size() == c.at("partitions").size());
        for (size_t k = 0; k < parts.size(); ++k)
            CHECK(digest(parts[k]) ==
                  c.at("partitions")[k].at("sha256_le_int64").get<std::string>());
    }
}

TEST_CASE("mini indices partition uses the tutorial's seed by default") {
    CHECK(indices("partition --len 50 --sizes 0.5,0.5").text ==
          indices("partition --len 50 --sizes 0.5,0.5 --seed 1234").text);
    CHECK(indices("partition --len 50 --sizes 0.5,0.5").text !=
          indices("partition --len 50 --sizes 0.5,0.5 --seed 1235").text);
}

TEST_CASE("mini indices partition counts the samples that belong to no part") {
    const Answer dropped = indices("partition --len 10 --sizes 0.55,0.45");
    CHECK(contains(dropped.text, "1 of 10 samples belong to no part"));
    CHECK(contains(dropped.text, "--assign-remainder"));
    const Answer assigned =
        indices("partition --len 10 --sizes 0.55,0.45 --assign-remainder");
    CHECK(assigned.code == 0);
    CHECK(!contains(assigned.text, "no part"));
}

TEST_CASE("mini indices distributed prints all ranks by default and marks padding") {
    const Answer table = indices("distributed --len 10 --replicas 3 --epoch 1");
    CHECK(table.text ==
          "DistributedSampler: 10 samples on 3 ranks, seed 0, epoch 1\n"
          "\n"
          "position 0  1  2  3 \n"
          "rank 0   5  2  9  4 \n"
          "rank 1   6  0  3  5*\n"
          "rank 2   1  8  7  6*\n"
          "\n"
          "* padding: samples that another position of this epoch has too\n");
    const Answer json =
        indices("distributed --len 10 --replicas 3 --epoch 1 --format json");
    CHECK(json.text == "[[5,2,9,4],[6,0,3,5],[1,8,7,6]]\n");
}

TEST_CASE("with more ranks than samples every repeated sample is marked as padding") {
    const Answer table = indices("distributed --len 2 --replicas 5 --no-shuffle");
    CHECK(contains(table.text, "rank 1   1 \n"));
    CHECK(contains(table.text, "rank 2   0*\n"));
    CHECK(contains(table.text, "rank 4   0*\n"));
    const Answer dropped = indices(
        "distributed --len 2 --replicas 5 --no-shuffle --drop-last --format json");
    CHECK(dropped.text == "[[],[],[],[],[]]\n");
}

TEST_CASE("a very long table is truncated and reports the number of further positions") {
    const Answer table = indices("randperm --n 5000");
    CHECK(contains(table.text, "more positions; --format json prints all of them"));
    CHECK(table.text.size() < 2000);
    CHECK(listed("randperm --n 5000").size() == 5000);
}

TEST_CASE("mini indices with invalid options prints one line and exits with code 2") {
    const std::string wrong[] = {
        "distributed --len 10 --replicas 0",
        "distributed --len 10 --replicas 3 --rank 3",
        "distributed --len 10 --replicas 3 --rank -1",
        "distributed --len -1 --replicas 3",
        "distributed --len 2.5 --replicas 3",
        "distributed --replicas 3",
        "randperm --n 99999999999",
        "randperm --n ten",
        "random --len 0",
        "random --len 5 --num-samples 0",
        "weighted --weights 1,-2 --num-samples 1",
        "weighted --weights 0,0 --num-samples 1",
        "weighted --weights 1,nan --num-samples 1",
        "weighted --weights 1,0 --num-samples 2 --no-replacement",
        "partition --len 10 --sizes 0.7,0.7",
        "partition --len 10 --sizes 0.7,0",
        "partition --len 10 --sizes 0.7,nan",
        "randperm --n -4",
        "randperm --n 3 --format xml",
        "randprem --n 3",
        "",
    };
    for (const std::string& arguments : wrong) {
        const Answer answer = indices(arguments);
        CAPTURE(arguments, answer.text);
        CHECK(answer.code == 2);
        CHECK(answer.text.starts_with("mini: "));
        CHECK(std::count(answer.text.begin(), answer.text.end(), '\n') == 1);
    }
}
