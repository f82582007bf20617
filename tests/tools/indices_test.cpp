// The built `mini indices`. The tests of the samplers compare their orders with PyTorch's and
// Python's.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/data/sampler.hpp"
#include "libmini/random/python_random.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/json_answer.hpp"

using mini::Generator;
using mini::data::DistributedSampler;
using mini::data::RandomSampler;
using mini::data::WeightedRandomSampler;
using mini::test::Answer;
using mini::test::contains;
using mini::test::json_of_mini;
using mini::test::run_mini;
using Indices = std::vector<int64_t>;

namespace {

Answer indices(const std::string& arguments) { return run_mini("indices " + arguments); }

Indices listed(const std::string& arguments) {
    return json_of_mini(fmt::format("indices {} --format json", arguments))
        .get<Indices>();
}

std::shared_ptr<Generator> seeded(uint64_t seed) {
    return std::make_shared<Generator>(seed);
}

}  // namespace

TEST_CASE("mini indices prints the order of the sampler that its options describe") {
    DistributedSampler distributed(
        11, {.num_replicas = 3, .rank = 1, .seed = 7, .drop_last = true});
    distributed.set_epoch(2);
    RandomSampler random(5, {.num_samples = 12, .generator = seeded(4)}),
        replaced(9, {.replacement = true, .generator = seeded(-1)});
    WeightedRandomSampler weighted({1, 2, 7}, 9, true, seeded(5)),
        distinct({0.5, 2, 1}, 3, false, seeded(0));
    const std::vector<std::pair<std::string, Indices>> cases = {
        {"distributed --len 11 --replicas 3 --rank 1 --epoch 2 --seed 7 --drop-last",
         distributed.indices()},
        {"distributed --len 11 --replicas 3 --rank 1 --no-shuffle", {1, 4, 7, 10}},
        {"randperm --n 20 --seed 3", mini::randperm(20, *seeded(3))},
        {"random --len 5 --num-samples 12 --seed 4", random.indices()},
        {"random --len 9 --replacement --seed -1", replaced.indices()},
        {"weighted --weights 1,2,7 --num-samples 9 --seed 5", weighted.indices()},
        {"weighted --weights 0.5,2,1 --num-samples 3 --no-replacement",
         distinct.indices()}};
    for (const auto& [arguments, order] : cases) {
        CAPTURE(arguments);
        CHECK(listed(arguments) == order);
    }
}

TEST_CASE("mini indices partition prints one list per part") {
    const auto parts =
        json_of_mini("indices partition --len 20 --sizes 0.5,0.25 --seed 3 --format json")
            .get<std::vector<Indices>>();
    Indices order(20);
    std::iota(order.begin(), order.end(), 0);
    mini::PythonRandom(3).shuffle(order);
    CHECK(parts == mini::data::cut_into_runs(order, {10, 5}));
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

TEST_CASE("mini names a command that it does not have") {
    const Answer answer = run_mini("indexes");
    CHECK(answer.code == 2);
    CHECK(contains(answer.text, "mini: A subcommand is required, not indexes"));
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
