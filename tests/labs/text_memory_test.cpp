// text_memory counts what lab 22 teaches; its GradScaler takes PyTorch's steps.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "labs/22-memory-and-precision/grad_scaler.hpp"
#include "libmini/optim/sgd.hpp"
#include "tests/labs/program_job.hpp"
#include "tests/support/golden.hpp"

using namespace mini;
using namespace mini::test;

namespace {

nlohmann::json count(const Words& options) {
    return parse_output(
        run_alone("text_memory", Words{"--text", MINI_GOLDEN_DIR "/../../labs", "--steps",
                                       "2", "--batch-size", "4", "--layers", "4"} +
                                     options));
}

}  // namespace

TEST_CASE("text_memory: checkpoints and 16 bits save bytes, checkpoints change no loss") {
    const auto plain = count({}), each = count({"--checkpoint", "1"}),
               pairs = count({"--checkpoint", "2"}),
               half = count({"--dtype", "bfloat16"});
    const auto bytes = [](const nlohmann::json& json, const char* what) {
        return json.at(what).get<int64_t>();
    };
    // Of 4 blocks' values one block's stay, and inputs of 4 * 64 * 64 floats.
    CHECK(bytes(each, "saved") < bytes(plain, "saved") / 4);
    CHECK(bytes(pairs, "saved") == bytes(each, "saved") - 2 * 4 * 4 * 64 * 64);
    CHECK(bytes(each, "peak") < bytes(pairs, "peak"));
    CHECK(bytes(pairs, "peak") < bytes(plain, "peak"));
    CHECK(bytes(half, "saved") < bytes(plain, "saved"));
    CHECK(each.at("losses") == plain.at("losses"));
    CHECK(pairs.at("losses") == plain.at("losses"));
    CHECK(half.at("losses") != plain.at("losses"));
    check_rejects("text_memory", 0, {"--dtype", "int8"}, "int8");
}

TEST_CASE("GradScaler has the scales, parameters and states of PyTorch's") {
    const nlohmann::json cases = golden_cases("mixed_precision");
    const nlohmann::json& expected = cases.at(2);
    REQUIRE(expected.at("what") == "scaler");
    Tensor w = Tensor::from(std::vector<float>{1.0f, -2.0f, 0.5f}).set_requires_grad();
    optim::SGD sgd({w}, {.lr = 0.1, .momentum = 0.9});
    lab22::GradScaler scaler({.init_scale = 96,
                              .growth_factor = 3,
                              .backoff_factor = 0.25,
                              .growth_interval = 3});
    const auto& gradients = expected.at("gradients");
    REQUIRE(gradients.size() == 10);
    for (size_t i = 0; i < gradients.size(); ++i) {
        CAPTURE(i);
        const float gradient = std::stof(gradients.at(i).get<std::string>());
        w.set_grad(Tensor::from(std::vector<float>{1.0f, gradient, -2.0f}));
        const auto& after = expected.at("steps").at(i);
        scaler.step(sgd);
        scaler.update();
        CHECK(w.to_vector<float>() == after.at("w").get<std::vector<float>>());
        const auto numbers = after.at("state").get<std::map<std::string, double>>();
        CHECK(scaler.state_dict().numbers == numbers);
    }
}
