// mini simulate buckets: the warm-up of lab 16, which its page solves by hand, and the
// buckets and orders of models, compared with DistributedDataParallel's own.

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/extras/scaling/published_models.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/vision/resnet.hpp"
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

nlohmann::json simulated_buckets(const std::string& arguments) {
    return json_of_mini("simulate buckets --format json " + arguments);
}

// Returns the options for lab 16's warm-up: the gradients D, C, B and A. On 2 ranks
// recursive doubling sends one message, so an all-reduce of n bytes takes the delay plus
// n/20 ms on a link of 160 kbit/s.
std::string warm_up(const test::Folder& folder) {
    const std::string path = folder / "warm_up.json";
    std::ofstream(path) << R"({"bucket_cap_mb": 0.0000457763671875, "statistics":
        {"forward_s": 0.002, "backward_s": 0.009, "gradients": [
        {"bytes": 4, "ready_s": 0.001}, {"bytes": 56, "ready_s": 0.005},
        {"bytes": 8, "ready_s": 0.006}, {"bytes": 52, "ready_s": 0.009}]}})";
    return "--ranks 2 --algorithm recursive-doubling --from " + path;
}

// An all-reduce of some gradients; times in milliseconds.
struct Expected {
    std::vector<int> gradients;
    double begin, end;
};

void check(const nlohmann::json& row, const std::vector<Expected>& expected) {
    CAPTURE(row.dump());
    REQUIRE(row["buckets"].size() == expected.size());
    double all = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const nlohmann::json& bucket = row["buckets"][i];
        CHECK(bucket["gradients"] == nlohmann::json(expected[i].gradients));
        CHECK(std::abs(bucket["begin_seconds"].get<double>() * 1e3 - expected[i].begin) <
              1e-6);
        CHECK(std::abs(bucket["end_seconds"].get<double>() * 1e3 - expected[i].end) <
              1e-6);
        all += expected[i].end - expected[i].begin;
    }
    CHECK(std::abs(row["all_reduce_seconds"].get<double>() * 1e3 - all) < 1e-6);
    CHECK(std::abs(row["exposed_seconds"].get<double>() * 1e3 -
                   (expected.back().end - 9)) < 1e-6);
}

TEST_CASE("mini simulate buckets gives the answers of lab 16's warm-up") {
    const test::Folder folder;
    const std::string options = warm_up(folder);
    const auto row = [&](const std::string& more) {
        return simulated_buckets(options + more)["rows"][0];
    };
    const std::string two = " --first-bucket-mb 0.00000762939453125";  // 8 bytes
    check(row(two + " --link 160kbit,1ms"), {{{0, 1}, 5, 9}, {{2, 3}, 9, 13}});
    check(row(two + " --link 160kbit,3ms"), {{{0, 1}, 5, 11}, {{2, 3}, 11, 17}});
    const std::string one = " --bucket-cap-mb 1";
    check(row(one + " --link 160kbit,1ms"), {{{0, 1, 2, 3}, 9, 16}});
    check(row(one + " --link 160kbit,3ms"), {{{0, 1, 2, 3}, 9, 18}});
    check(row(" --bucket-cap-mb 0 --link 160kbit,1ms"),
          {{{0}, 1, 2.2}, {{1}, 5, 8.8}, {{2}, 8.8, 10.2}, {{3}, 10.2, 13.8}});
    check(row(" --bucket-cap-mb 0 --link 160kbit,3ms"),
          {{{0}, 1, 4.2}, {{1}, 5, 10.8}, {{2}, 10.8, 14.2}, {{3}, 14.2, 19.8}});
}

// Returns the layers of parameters in their order: "fc" for "fc.bias" and "fc.weight".
std::vector<std::string> layers_of(const std::vector<std::string>& names) {
    std::vector<std::string> layers;
    for (const std::string& name : names) {
        const std::string layer = name.substr(0, name.rfind('.'));
        if (layers.empty() || layers.back() != layer) layers.push_back(layer);
    }
    return layers;
}

// The model has the parameters of `name`, and backward computes its layers in the order
// of mini simulate buckets. (In what order a layer's weight and bias are ready does not
// matter: one function computes both.)
void check_order(const std::string& name, nn::Module& model, const Tensor& images) {
    CAPTURE(name);
    const auto parameters = scaling::published_model(name);
    const auto named = model.named_parameters();
    REQUIRE(named.size() == parameters.size());
    std::vector<std::string> order, expected;
    for (size_t i = 0; i < named.size(); ++i) {
        CHECK(named[i].first == parameters[i].name);
        CHECK(named[i].second.numel() == parameters[i].numel);
        grad_accumulator(named[i].second)->add_hook([&order, &named, i](const Tensor&) {
            order.push_back(named[i].first);
        });
    }
    sum(model(images)).backward();
    const auto run = simulated_buckets("--model " + name);
    for (const nlohmann::json& gradient : run["gradients"])
        expected.push_back(gradient["name"]);
    CHECK(layers_of(order) == layers_of(expected));
}

TEST_CASE("mini simulate buckets has the parameters and order of libmini's own models") {
    nn::ConvNet convnet;
    check_order("convnet", convnet, Tensor::ones({1, 1, 28, 28}));
    nn::ResNet resnet = nn::resnet18();
    check_order("resnet18", resnet, Tensor::ones({2, 3, 32, 32}));
}

TEST_CASE("mini simulate buckets fills buckets as lab 16's page says") {
    const auto run = simulated_buckets("--model convnet --bucket-cap-mb 0.0625");
    const nlohmann::json& buckets = run["rows"][0]["buckets"];
    REQUIRE(buckets.size() == 2);
    CHECK(buckets[0]["bytes"] == 66'240);
    CHECK(buckets[1]["bytes"] == 21'120);
    CHECK(run["gradients"][0]["name"] == "fc2.bias");

    INFO("a first bucket of 0 MiB has one gradient, and one of 1 MiB has both of fc");
    const auto rows = simulated_buckets("--model resnet18 --first-bucket-mb 0,1")["rows"];
    CHECK(rows[0]["buckets"][0]["gradients"] == nlohmann::json{0});
    CHECK(rows[1]["buckets"][0]["gradients"] == nlohmann::json{0, 1});
}

TEST_CASE("mini simulate buckets prints a table for each pair of limits") {
    const Answer answer = run_mini(
        "simulate buckets --model resnet18 --bucket-cap-mb 25,100 --first-bucket-mb 0,1");
    CHECK(answer.code == 0);
    CHECK(contains(answer.text, "# resnet18: 62 gradients; forward 35.00 ms, "));
    CHECK(contains(answer.text, "\n# first bucket of 1 MiB, others of 100 MiB\n"));
    CHECK(contains(answer.text, "\n# first bucket of 0 MiB, others of 25 MiB\n"));
    CHECK(contains(answer.text, "  fc.weight\n"));
    CHECK(contains(answer.text, "  conv1.weight\n"));
    CHECK(
        simulated_buckets("--bucket-cap-mb 1,5 --first-bucket-mb 0,1,2")["rows"].size() ==
        6);
}

TEST_CASE("mini simulate buckets names an invalid option") {
    const auto error = [](const std::string& arguments) {
        const Answer answer = run_mini("simulate buckets " + arguments);
        CAPTURE(arguments);
        CHECK(answer.code == 2);
        return answer.text;
    };
    CHECK(contains(error("--first-bucket-mb -1"), "--first-bucket-mb is -1"));
    CHECK(contains(error("--bucket-cap-mb nan"), "--bucket-cap-mb is nan"));
    CHECK(contains(error("--ranks 0"), "--ranks"));
    CHECK(contains(error("--from run.json --model bert"), "--model cannot be given"));
    CHECK(contains(error("--algorithm star"), "all_reduce algorithm \"star\""));
    CHECK(contains(error("--link '10Gbit,1us; hosts of 4: 90Gbit,1us' --bucket-cap-mb 0"),
                   "no formula for recursive-doubling on these links"));
}

}  // namespace
