// Compares initial weights with PyTorch's. All must be bitwise identical.

#include "libmini/nn/init.hpp"

#include <memory>
#include <string>
#include <vector>

#include "libmini/nn/models.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;

namespace {

namespace init = nn::init;

// Returns the weight (4, 6) that an initialiser of init_functions.json draws.
Tensor drawn(const std::string& name, Generator& generator) {
    Tensor x = Tensor::empty({4, 6});
    if (name == "xavier_uniform_(empty(4,6))")
        init::xavier_uniform_(x, 1, generator);
    else if (name == "xavier_normal_(empty(4,6))")
        init::xavier_normal_(x, 1, generator);
    else if (name == "kaiming_uniform_(empty(4,6),nonlinearity=relu)")
        init::kaiming_uniform_(x, {.nonlinearity = init::Nonlinearity::kRelu}, generator);
    else if (name == "kaiming_normal_(empty(4,6),mode=fan_out,nonlinearity=relu)")
        init::kaiming_normal_(
            x,
            {.mode = init::FanMode::kFanOut, .nonlinearity = init::Nonlinearity::kRelu},
            generator);
    else
        FAIL("unknown: " << name);
    return x;
}

void compare_functions(const std::string& file, Rounding rounding) {
    const nlohmann::json cases = golden_cases(file);
    for (const auto& entry : cases) {
        const auto what = entry.at("what").get<std::string>();
        CAPTURE(what, entry.at("seed").dump());
        Generator generator(entry.at("seed").get<uint64_t>());
        generator.set_rounding(rounding);
        const auto actual = drawn(what, generator).to_vector<float>();
        const auto expected = floats_from_hex(entry.at("f32_hex"));
        REQUIRE(expected.size() == actual.size());
        for (size_t i = 0; i < actual.size(); ++i) {
            CAPTURE(i, actual[i], expected[i]);
            CHECK(actual[i] == expected[i]);
        }
    }
    CHECK(cases.size() == 2 * 4);
}

// A module with the weight of an embedding. The tests do not call forward.
struct Embedding : nn::Module {
    Embedding(int64_t count, int64_t size) : weight(Tensor::empty({count, size})) {
        init::normal_(weight, 0, 1);
        register_parameter("weight", weight);
    }
    Tensor forward(const Tensor& x) override { return x; }

    Tensor weight;
};

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
    if (name == "nn.Embedding(7,5)") return std::make_unique<Embedding>(7, 5);
    return nullptr;
}

void compare(const std::string& file, Rounding rounding) {
    int compared = 0;
    const nlohmann::json cases = golden_cases(file);
    for (const auto& entry : cases) {
        const auto name = entry.at("module").get<std::string>();
        default_generator().set_rounding(rounding);
        manual_seed(entry.at("seed").get<uint64_t>());
        const auto module = make_module(name);
        default_generator().set_rounding(Rounding::kFused);
        REQUIRE(module != nullptr);
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
    CHECK(compared == 84);
}

}  // namespace

TEST_CASE("layers have PyTorch's initial weights bitwise, with and without AVX2") {
    compare("layer_init", Rounding::kFused);
    compare("layer_init_separate", Rounding::kSeparate);
}

TEST_CASE(
    "by default a Linear with 2 inputs and seed 0 has the weights of PyTorch's wheel") {
    manual_seed(0);
    const nn::Linear layer(2, 1);
    CHECK(layer.weight.to_vector<float>() ==
          std::vector<float>{-0.005293981172144413f, 0.37932288646698f});
}

TEST_CASE("a weight of one dimension has no fans") {
    CHECK_THROWS_AS(nn::init::fan_in(Tensor::empty({3})), ShapeError);
    CHECK_THROWS_AS(nn::init::fan_out(Tensor::empty({3})), ShapeError);
}

TEST_CASE("initialisers draw the values of torch.nn.init, with and without AVX2") {
    compare_functions("init_functions", Rounding::kFused);
    compare_functions("init_functions_separate", Rounding::kSeparate);
}

TEST_CASE("calculate_gain returns the gains of torch.nn.init.calculate_gain") {
    using init::calculate_gain;
    using init::Nonlinearity;
    CHECK(calculate_gain(Nonlinearity::kLinear) == 1);
    CHECK(calculate_gain(Nonlinearity::kSigmoid) == 1);
    CHECK(calculate_gain(Nonlinearity::kTanh) == 5.0 / 3);
    CHECK(calculate_gain(Nonlinearity::kRelu) == 1.4142135623730951);
    CHECK(calculate_gain(Nonlinearity::kLeakyRelu) == 1.4141428569978354);
    CHECK(calculate_gain(Nonlinearity::kLeakyRelu, 0.2) == 1.3867504905630728);
    CHECK(calculate_gain(Nonlinearity::kSelu) == 0.75);
}

TEST_CASE("constant_ fills a tensor") {
    Tensor x = Tensor::empty({2, 3});
    init::constant_(x, 2.5);
    CHECK(x.to_vector<float>() == std::vector<float>(6, 2.5f));
}

TEST_CASE("an empty weight draws no random numbers") {
    Tensor weight = Tensor::empty({3, 0}), bias = Tensor::empty({3});
    manual_seed(1);
    init::kaiming_normal_(weight);
    Generator fresh(1);
    CHECK(default_generator().random() == fresh.random());

    init::reset_parameters(weight, bias);
    CHECK(bias.to_vector<float>() == std::vector<float>(3, 0.0f));
}
