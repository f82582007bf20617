// Initial weights, equal to PyTorch's to the last bit.

#include "libmini/nn/init.hpp"

#include "libmini/nn/models.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;

namespace {

std::unique_ptr<nn::Module> make_module(const std::string& name) {
    using namespace nn;
    if (name == "nn.Linear(10,1)") return std::make_unique<Linear>(10, 1);
    if (name == "nn.Linear(320,50)") return std::make_unique<Linear>(320, 50);
    if (name == "nn.Linear(50,10)") return std::make_unique<Linear>(50, 10);
    if (name == "nn.Linear(4,3,bias=False)")
        return std::make_unique<Linear>(4, 3, LinearOptions{.bias = false});
    if (name == "nn.Conv2d(1,10,5)") return std::make_unique<Conv2d>(1, 10, 5);
    if (name == "nn.Conv2d(10,20,5)") return std::make_unique<Conv2d>(10, 20, 5);
    if (name == "nn.Conv2d(3,6,3,padding=1,bias=False)")
        return std::make_unique<Conv2d>(3, 6, 3,
                                        Conv2dOptions{.padding = 1, .bias = false});
    if (name.starts_with("tutorial Net")) return std::make_unique<ConvNet>();
    return nullptr;  // nn.Embedding is not ours yet
}

void compare(const std::string& file, Rounding rounding) {
    int compared = 0;
    const nlohmann::json cases = golden_cases(file);
    for (const auto& entry : cases) {
        const auto name = entry.at("module").get<std::string>();
        default_generator().set_rounding(rounding);
        manual_seed(entry.at("seed").get<uint64_t>());
        const auto module = make_module(name);
        default_generator().set_rounding(Rounding::kSeparate);
        if (!module) {
            CHECK(name == "nn.Embedding(7,5)");
            continue;
        }
        CAPTURE(name, entry.at("seed").dump());
        const auto parameters = module->named_parameters();
        CHECK(parameters.size() == entry.at("params").size());
        for (const auto& [parameter, value] : parameters) {
            CAPTURE(parameter);
            const auto& expected = entry.at("params").at(parameter);
            CHECK(value.shape() == expected.at("shape").get<Shape>());
            CHECK(digest(value.to_vector<float>()) ==
                  expected.at("sha256_le_float32").get<std::string>());
            ++compared;
        }
    }
    CHECK(compared >= 40);
}

}  // namespace

TEST_CASE("layers start from PyTorch's weights, bit for bit") {
    compare("layer_init", Rounding::kSeparate);
}

TEST_CASE(
    "layers start from the weights of a PyTorch that fuses multiply and add, if asked") {
    compare("layer_init_fused", Rounding::kFused);
}

TEST_CASE("a published value: Linear(2, 1) with seed 0") {
    manual_seed(0);
    const nn::Linear layer(2, 1);
    CHECK(layer.weight.to_vector<float>() ==
          std::vector<float>{-0.0052939653396606445f, 0.37932294607162476f});
}

TEST_CASE("fan_in counts the inputs of one output") {
    CHECK(nn::init::fan_in(Tensor::empty({50, 320})) == 320);
    CHECK(nn::init::fan_in(Tensor::empty({20, 10, 5, 5})) == 250);
    CHECK_THROWS_AS(nn::init::fan_in(Tensor::empty({3})), ShapeError);
}
