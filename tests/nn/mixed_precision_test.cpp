// Compares the 16-bit linear layer with PyTorch, and a transformer whose blocks are in
// checkpoints with one whose blocks are not. The checks of lab 22 show the rest.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/low_precision.hpp"
#include "libmini/nn/transformer.hpp"
#include "tests/nn/golden_fill.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;
using test::noise_tensor;

namespace {

using Values = std::vector<float>;

// Checks that x has PyTorch's values, but for float32 sums that another order rounds to the
// other side of a tie: there the neighbour in `dtype`, and that in few places.
void check_close(const Tensor& x, const nlohmann::json& expected, DType dtype) {
    const double ulp = dtype == DType::kBFloat16 ? 0x1p-7 : 0x1p-10;
    const auto values = x.to_vector<float>();
    const auto wanted = expected.get<Values>();
    REQUIRE(values.size() == wanted.size());
    size_t different = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const double error = std::abs(values[i] - wanted[i]);
        CHECK(error <= ulp * std::abs(wanted[i]));
        if (error != 0) ++different;
    }
    CHECK(different <= 1 + values.size() / 100);
}

// Returns the loss of a step with these options, and all gradients.
Values step(int64_t n_checkpoint, DType dtype) {
    manual_seed(3);
    nn::GPT model({.vocab_size = 7,
                   .block_size = 5,
                   .n_layer = 4,
                   .n_head = 2,
                   .n_embd = 8,
                   .n_checkpoint = n_checkpoint});
    const Tensor tokens = Tensor::from(std::vector<int64_t>{3, 1, 4, 1, 5}, {1, 5});
    const AutocastGuard guard(dtype);
    const Tensor loss = cross_entropy(view(model(tokens), {5, 7}), view(tokens, {5}));
    loss.backward();
    Values all = loss.to_vector<float>();
    for (const Tensor& parameter : model.parameters())
        for (const float g : parameter.grad().to_vector<float>()) all.push_back(g);
    return all;
}

}  // namespace

TEST_CASE("a 16-bit linear layer gives the values and gradients of PyTorch's autocast") {
    int compared = 0;
    const nlohmann::json cases = golden_cases("mixed_precision");
    for (const auto& expected : cases) {
        if (expected.at("what") != "linear") continue;
        const std::string name = expected.at("dtype");
        const DType dtype = name == "bfloat16" ? DType::kBFloat16 : DType::kFloat16;
        CAPTURE(name);
        std::vector<Tensor> inputs;
        for (const auto& shape : expected.at("shapes"))
            inputs.push_back(noise_tensor(inputs.size(), shape.get<Shape>(), 2.0));
        for (Tensor& input : inputs) input.set_requires_grad();
        const Tensor y = low_precision_linear(inputs[0], inputs[1], inputs[2], dtype);
        y.backward({.gradient = noise_tensor(10, y.shape())});
        check_close(y, expected.at("y"), dtype);
        for (size_t i = 0; i < inputs.size(); ++i)
            check_close(inputs[i].grad(), expected.at("gradients").at(i), dtype);
        ++compared;
    }
    CHECK(compared == 2);
}

TEST_CASE("a transformer has the same bits with its blocks in checkpoints") {
    const DType dtype = GENERATE(DType::kFloat32, DType::kBFloat16);
    const Values plain = step(0, dtype);
    CHECK(step(1, dtype) == plain);
    CHECK(step(3, dtype) == plain);
    CHECK(step(9, dtype) == plain);
    CHECK(step(0, DType::kFloat16) != plain);
}
