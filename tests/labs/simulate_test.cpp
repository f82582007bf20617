// The program simulate: its rows, compared with the formulas, with the warm-up of lab 16,
// which its page solves by hand, and with DistributedDataParallel's own orders; and the
// options that it rejects.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "labs/20-scaling-by-simulation/published_models.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/vision/resnet.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using mini::test::Answer;
using mini::test::contains;

namespace {

Answer run_simulate(const std::string& arguments) {
    return test::run_shell(concat(MINI_BIN_DIR, "/simulate ", arguments));
}

// Returns the JSON that a command prints.
nlohmann::json simulated(const std::string& arguments) {
    const Answer answer = run_simulate(arguments + " --json");
    CAPTURE(arguments, answer.text);
    REQUIRE(answer.code == 0);
    return nlohmann::json::parse(answer.text);
}

// Requires that a command rejects options, each with its message, before it prints the
// head of a table.
void check_rejected(const std::string& command,
                    const std::vector<std::pair<std::string, std::string>>& messages) {
    for (const auto& [options, message] : messages) {
        const Answer answer = run_simulate(command + " " + options);
        CAPTURE(options, answer.text);
        CHECK(answer.code == 2);
        CHECK_FALSE(contains(answer.text, "#"));
        CHECK(contains(answer.text, message));
    }
}

// ---- allreduce

TEST_CASE("simulate allreduce counts messages and bytes of all ranks") {
    const auto all = simulated("allreduce --ranks 5 --sizes 20,4M --algorithm ring,tree");
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

TEST_CASE("simulate allreduce takes the formula's time on equal links") {
    const auto all = simulated(
        "allreduce --ranks 16 --sizes 64K --algorithm naive,ring,tree,recursive-doubling,"
        "halving-doubling --link 8Gbit,50us");
    for (const auto& row : all["rows"]) {
        CAPTURE(row.dump());
        const double formula = row["formula_seconds"], seconds = row["seconds"];
        CHECK(std::abs(seconds - formula) <= 0.01 * formula);
    }
}

TEST_CASE("simulate allreduce leaves out a formula that does not apply") {
    for (const std::string options :
         {"--link '8Gbit,50us; hosts of 2: 80Gbit,1us'", "--link '8Gbit; rank 1 at 0.5'",
          "--algorithm hierarchical", "--algorithm auto"}) {
        const auto rows =
            simulated("allreduce --ranks 4 --sizes 1M --algorithm ring " + options);
        CAPTURE(options);
        CHECK(rows["rows"].back()["formula_seconds"].is_null());
    }
    CHECK(
        simulated(
            "allreduce --ranks 4 --sizes 1M --algorithm auto")["rows"][0]["algorithm"] ==
        "ring");  // the algorithm that auto chooses
}

TEST_CASE("simulate allreduce prints a table that names its ranks and links") {
    const Answer answer = run_simulate("allreduce --ranks 4 --sizes 1K --algorithm ring");
    CHECK(answer.code == 0);
    CHECK(contains(answer.text, "# 4 ranks, links 100Gbit,10us\n"));
    CHECK(contains(answer.text, "formula us"));
    CHECK(contains(answer.text, "\nring                        1024          60.12"));
}

TEST_CASE("simulate allreduce rejects invalid options before it prints a row") {
    check_rejected("allreduce",
                   {{"--algorithm ring,star", "all_reduce algorithm \"star\""},
                    {"--link fast", "\"fast\" is not like"},
                    {"--sizes none", "--sizes"},
                    {"--ranks 0", "--ranks"}});
    CHECK(run_simulate("").code == 2);
}

// ---- buckets

// Returns the options for lab 16's warm-up: the gradients D, C, B and A. On 2 ranks
// recursive doubling sends one message, so an all-reduce of n bytes takes the delay plus
// n/20 ms on a link of 160 kbit/s.
std::string warm_up(const test::Folder& folder) {
    const std::string path = folder / "warm_up.json";
    std::ofstream(path) << R"({"bucket_cap_mb": 0.0000457763671875, "statistics":
        {"forward_s": 0.002, "backward_s": 0.009, "gradients": [
        {"bytes": 4, "ready_s": 0.001}, {"bytes": 56, "ready_s": 0.005},
        {"bytes": 8, "ready_s": 0.006}, {"bytes": 52, "ready_s": 0.009}]}})";
    return "--ranks 2 --from " + path;
}

// An all-reduce of some gradients; times in milliseconds.
struct Expected {
    std::vector<int> gradients;
    double begin, end;
};

void check(const nlohmann::json& row, const std::vector<Expected>& expected) {
    CAPTURE(row.dump());
    REQUIRE(row["buckets"].size() == expected.size());
    const auto is = [](const nlohmann::json& seconds, double milliseconds) {
        return std::abs(seconds.get<double>() * 1e3 - milliseconds) < 1e-6;
    };
    double all = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const nlohmann::json& bucket = row["buckets"][i];
        CHECK(bucket["gradients"] == nlohmann::json(expected[i].gradients));
        CHECK(is(bucket["begin_seconds"], expected[i].begin));
        CHECK(is(bucket["end_seconds"], expected[i].end));
        all += expected[i].end - expected[i].begin;
    }
    CHECK(is(row["all_reduce_seconds"], all));
    CHECK(is(row["exposed_seconds"], expected.back().end - 9));
}

TEST_CASE("simulate buckets gives the answers of lab 16's warm-up") {
    const test::Folder folder;
    const std::string options = warm_up(folder);
    const auto row = [&](const std::string& more) {
        return simulated("buckets " + options + more)["rows"][0];
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
// of simulate buckets. (In what order a layer's weight and bias are ready does not
// matter: one function computes both.)
void check_order(const std::string& name, nn::Module& model, const Tensor& images) {
    CAPTURE(name);
    const auto parameters = lab20::published_model(name);
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
    const auto run = simulated("buckets --model " + name);
    for (const nlohmann::json& gradient : run["gradients"])
        expected.push_back(gradient["name"]);
    CHECK(layers_of(order) == layers_of(expected));
}

TEST_CASE("simulate buckets has the parameters and order of libmini's own models",
          "[large]") {
    nn::ConvNet convnet;
    check_order("convnet", convnet, Tensor::ones({1, 1, 28, 28}));
    nn::ResNet resnet = nn::resnet18();
    check_order("resnet18", resnet, Tensor::ones({2, 3, 32, 32}));
}

TEST_CASE("simulate buckets fills buckets as lab 16's page says") {
    const auto run = simulated("buckets --model convnet --bucket-cap-mb 0.0625");
    const nlohmann::json& buckets = run["rows"][0]["buckets"];
    REQUIRE(buckets.size() == 2);
    CHECK(buckets[0]["bytes"] == 66'240);
    CHECK(buckets[1]["bytes"] == 21'120);
    CHECK(run["gradients"][0]["name"] == "fc2.bias");

    INFO("a first bucket of 0 MiB has one gradient, and one of 1 MiB has both of fc");
    const auto rows = simulated("buckets --model resnet18 --first-bucket-mb 0,1")["rows"];
    CHECK(rows[0]["buckets"][0]["gradients"] == nlohmann::json{0});
    CHECK(rows[1]["buckets"][0]["gradients"] == nlohmann::json{0, 1});
}

TEST_CASE("simulate buckets prints a table for each pair of limits") {
    const Answer answer = run_simulate(
        "buckets --model resnet18 --bucket-cap-mb 25,100 --first-bucket-mb 0,1");
    CHECK(answer.code == 0);
    CHECK(contains(answer.text, "# resnet18: 62 gradients; forward 35.00 ms, "));
    CHECK(contains(answer.text, "\n# first bucket of 1 MiB, others of 100 MiB\n"));
    CHECK(contains(answer.text, "\n# first bucket of 0 MiB, others of 25 MiB\n"));
    CHECK(contains(answer.text, "  fc.weight\n"));
    CHECK(contains(answer.text, "  conv1.weight\n"));
    CHECK(
        simulated("buckets --bucket-cap-mb 1,5 --first-bucket-mb 0,1,2")["rows"].size() ==
        6);
}

TEST_CASE("simulate buckets names an invalid option") {
    check_rejected("buckets",
                   {{"--first-bucket-mb -1", "--first-bucket-mb is -1"},
                    {"--bucket-cap-mb nan", "--bucket-cap-mb is nan"},
                    {"--ranks 0", "--ranks"},
                    {"--from run.json --model bert", "--model cannot be given"},
                    {"--link '10Gbit,1us; hosts of 4: 90Gbit,1us' --bucket-cap-mb 0",
                     "no formula for recursive-doubling on these links"}});
}

// ---- step

TEST_CASE("simulate step is never slower with overlap than without", "[large]") {
    for (const std::string options :
         {"--model resnet50 --link 100Gbit,10us", "--model bert --link 10Gbit,50us",
          "--model resnet50 --link '25Gbit,20us; hosts of 4: 400Gbit,3us'"}) {
        const std::string arguments = "--ranks 2,8 --bucket-cap-mb 1,25,1000 " + options;
        const auto with = simulated("step " + arguments)["rows"];
        const auto without = simulated("step " + arguments + " --no-overlap")["rows"];
        REQUIRE(with.size() == 6);
        for (size_t i = 0; i < with.size(); ++i) {
            CAPTURE(options, with[i].dump(), without[i].dump());
            CHECK(with[i]["step_seconds"] <= without[i]["step_seconds"]);
        }
    }
}

TEST_CASE("simulate step prints a row for each number of ranks and bucket size") {
    const Answer answer = run_simulate("step --ranks 1,2 --bucket-cap-mb 0,25");
    CHECK(answer.code == 0);
    CHECK(contains(answer.text,
                   "# resnet50: 25,557,032 parameters in 161 gradients; "
                   "forward 35.00 ms, backward 70.00 ms\n"));
    CHECK(std::ranges::count(answer.text, '\n') == 3 + 4);
    CHECK(contains(answer.text,
                   "\n     1        0      161      0.00        0.00    105.00"));
}

TEST_CASE("simulate step reads a report of train_mnist and its bucket size") {
    const test::Folder folder;
    const std::string path = folder / "run.json";
    std::ofstream(path) << R"({"bucket_cap_mb": 0.02, "statistics": {"forward_s": 0.002,
        "backward_s": 0.005, "gradients": [{"bytes": 2000, "ready_s": 0.001},
        {"bytes": 64000, "ready_s": 0.002}, {"bytes": 40, "ready_s": 0.005}]}})";
    const auto run = simulated("step --ranks 1,2 --from " + path);
    REQUIRE(run["rows"].size() == 2);
    CHECK(run["rows"][0]["bucket_cap_mb"] == 0.02);
    CHECK(run["rows"][0]["buckets"] == 2);
    CHECK(std::abs(run["rows"][0]["step_seconds"].get<double>() - 0.007) < 1e-9);
    CHECK(run["rows"][1]["exposed_seconds"] > 0.0);
    CHECK(simulated("step --ranks 2 --bucket-cap-mb 0 --from " +
                    path)["rows"][0]["buckets"] == 3);
}

TEST_CASE("simulate step rejects an invalid report with the path and the reason") {
    const test::Folder folder;
    const std::string path = folder / "run.json";
    const auto error = [&](const std::string& text) {
        std::ofstream(path) << text;
        const Answer answer = run_simulate("step --from " + path);
        CHECK(answer.code == 1);
        CHECK(contains(answer.text, path));
        return answer.text;
    };
    const std::string head = R"({"bucket_cap_mb": 25, "statistics": {"forward_s": 1, )";
    CHECK(contains(error("no JSON"), "parse error"));
    CHECK(contains(error("{}"), "statistics"));
    CHECK(contains(error(head + R"("gradients": []}})"), "backward_s"));
    CHECK(contains(error(head + R"("backward_s": 1, "gradients": []}})"), "--sync ddp"));
    CHECK(run_simulate("step --from " + (folder / "none.json")).code == 1);
}

TEST_CASE("simulate step names an invalid option before it prints a row") {
    check_rejected("step", {{"--ranks 2,0", "--ranks"},
                            {"--ranks 4097", "--ranks"},
                            {"--bucket-cap-mb 1,-1", "--bucket-cap-mb is -1"},
                            {"--bucket-cap-mb nan", "--bucket-cap-mb is nan"},
                            {"--model vgg", "--model"},
                            {"--algorithm star", "all_reduce algorithm \"star\""},
                            {"--link fast", "\"fast\" is not like"},
                            {"--forward-ms -1", "--forward-ms is -1"},
                            {"--backward-ms 1e9", "--backward-ms is 1e+09"},
                            {"--from run.json --model bert", "--model cannot be given"},
                            {"--from run.json --forward-ms 1", "--forward-ms cannot"}});
}

// ---- messages

TEST_CASE("simulate messages prints the messages") {
    const auto answer = run_simulate("messages --ranks 3 --algorithm tree");
    CHECK(answer.code == 0);
    CHECK(
        contains(answer.text,
                 "# all-reduce by tree of 3 elements on 3 ranks: 4 messages in 2 steps"));
    const auto json = simulated("messages --ranks 2 --algorithm tree");
    CHECK(json["steps"] == 2);
    CHECK(json["messages"][0]["sums"] == nlohmann::json{3, 3});
    CHECK(run_simulate("messages --ranks 17").code != 0);
    CHECK(run_simulate("messages --algorithm recursive-doubling").code != 0);
}

}  // namespace
