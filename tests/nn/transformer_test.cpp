// Compares a transformer and its functions with PyTorch.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/transformer.hpp"
#include "libmini/optim/adam.hpp"
#include "tests/nn/golden_fill.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/read_file.hpp"

using namespace mini;
using test::contains;
using test::distance;
using test::message_of;
using test::noise_tensor;

namespace {

using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

// Returns the element of x, or an undefined tensor.
Tensor at(const Inputs& x, size_t i) { return i < x.size() ? x[i] : Tensor(); }

Tensor indices() { return Tensor::from(std::vector<int64_t>{3, 0, 3, 1, 3, 0}, {2, 3}); }

const std::map<std::string, Function> kFunctions{
    {"embedding", [](const Inputs& x) { return embedding(indices(), x[0]); }},
    {"gelu", [](const Inputs& x) { return gelu(x[0]); }},
    {"softmax", [](const Inputs& x) { return softmax(x[0]); }},
    {"layer_norm", [](const Inputs& x) { return layer_norm(x[0], at(x, 1), at(x, 2)); }},
    {"linear", [](const Inputs& x) { return linear(x[0], x[1], x[2]); }},
    {"bmm", [](const Inputs& x) { return bmm(x[0], x[1]); }},
    {"attention",
     [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
    {"causal attention", [](const Inputs& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true});
     }}};

}  // namespace

TEST_CASE("the functions of a transformer give the values and gradients of PyTorch") {
    // Sums of at most 8 products of numbers below 4, and exponentials, in float32: each
    // rounding is at most 6e-8 of the largest number, and fast_erf adds 4e-7.
    constexpr double kTolerance = 2e-6;
    const nlohmann::json cases = golden_cases("transformer");
    CHECK(cases.size() == 9);
    for (const auto& expected : cases) {
        const std::string name = expected.at("name");
        CAPTURE(name);
        Inputs inputs;
        for (const auto& shape : expected.at("shapes"))
            inputs.push_back(noise_tensor(inputs.size(), shape.get<Shape>(),
                                          expected.at("scale").get<double>()));
        for (Tensor& input : inputs) input.set_requires_grad();
        const Tensor y = kFunctions.at(name)(inputs);
        y.backward({.gradient = noise_tensor(10, y.shape())});

        CHECK(distance(y, expected.at("y")) < kTolerance);
        for (size_t i = 0; i < inputs.size(); ++i)
            CHECK(distance(inputs[i].grad(), expected.at("gradients").at(i)) <
                  kTolerance);
    }
}

TEST_CASE("causal attention does not depend on later positions") {
    const Tensor q = noise_tensor(0, {1, 4, 2});
    const auto first_rows = [&](bool is_causal, double later) {
        Tensor k = noise_tensor(1, {1, 4, 2}), v = noise_tensor(2, {1, 4, 3});
        for (const Tensor& x : {k, v}) {
            Tensor rows = ops::narrow(x, 1, 2, 2);
            ops::copy_(rows, noise_tensor(3, rows.shape(), later));
        }
        const Tensor y = scaled_dot_product_attention(q, k, v, {.is_causal = is_causal});
        return ops::narrow(y, 1, 0, 2).to_vector<float>();
    };
    CHECK(first_rows(true, 1.0) == first_rows(true, 9.0));
    CHECK(first_rows(false, 1.0) != first_rows(false, 9.0));
}

TEST_CASE("layer normalisation, embedding and attention name wrong shapes and indices",
          "[cpu]") {
    const Tensor row = Tensor::ones({3, 1}), table = Tensor::ones({4, 2});
    CHECK(contains(message_of([&] { layer_norm(row); }), "(3, 1)"));
    CHECK(contains(message_of([&] { embedding(Tensor::ones({2}), table); }), "float32"));
    const Tensor outside = Tensor::from(std::vector<int64_t>{3, 4});
    CHECK(contains(message_of([&] { embedding(outside, table); }),
                   "index 4 at position 1 is no row; there are 4"));
    CHECK(contains(message_of([&] { bmm(Tensor::ones({2, 3, 4}), table); }), "(4, 2)"));
    CHECK(contains(message_of([&] { scaled_dot_product_attention(row, row, Tensor()); }),
                   "undefined"));
}

namespace {

// Returns the newline as 0 and the characters from the space to ~ as 1 to 95.
std::vector<int64_t> tokens_of(const std::string& text) {
    std::vector<int64_t> tokens;
    for (const char c : text)
        if (c == '\n' || (c >= ' ' && c <= '~')) tokens.push_back(c == '\n' ? 0 : c - 31);
    return tokens;
}

// Returns the inputs of step `step` of tests/golden/make_gpt.py, `shift` characters later.
Tensor batch(const std::vector<int64_t>& text, int64_t step, int64_t shift) {
    std::vector<int64_t> tokens;
    for (int64_t b = 0; b < 4; ++b) {
        const auto begin = text.begin() + 7919 * (4 * step + b) % 900 + shift;
        tokens.insert(tokens.end(), begin, begin + 64);
    }
    return Tensor::from(tokens, {4, 64});
}

}  // namespace

TEST_CASE("fifty training steps of the transformer give PyTorch's losses",
          "[large][cpu]") {
    const nlohmann::json expected = golden_cases("gpt").at(0);
    manual_seed(0);
    nn::GPT model;
    const auto& digests = expected.at("parameters_sha256");
    CHECK(model.named_parameters().size() == digests.size());
    int64_t numel = 0;
    for (const auto& [name, parameter] : model.named_parameters()) {
        CAPTURE(name);
        CHECK(digest(parameter.to_vector<float>()) ==
              digests.at(name).get<std::string>());
        numel += parameter.numel();
    }
    CHECK(numel == 216'448);  // as nn/transformer.hpp says

    const auto text = tokens_of(test::read_file(MINI_GOLDEN_DIR "/../../LICENSE"));
    const double tolerance = 4 * expected.at("float32_error").get<double>();
    optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
    for (int64_t step = 0; step < 50; ++step) {
        CAPTURE(step);
        optimizer.zero_grad();
        const Tensor scores = view(model(batch(text, step, 0)), {-1, 96});
        const Tensor loss = cross_entropy(scores, view(batch(text, step, 1), {-1}));
        loss.backward();
        optimizer.step();
        const double wanted = expected.at("losses").at(static_cast<size_t>(step));
        CHECK(std::abs(loss.item() - wanted) < tolerance * wanted);
    }
}

TEST_CASE("the transformer takes fewer positions but not more") {
    nn::GPT model(
        {.vocab_size = 5, .block_size = 3, .n_layer = 1, .n_head = 1, .n_embd = 4});
    const auto tokens = [](Shape shape) { return Tensor::zeros(shape, DType::kInt64); };
    CHECK(model(tokens({2, 1})).shape() == Shape{2, 1, 5});
    CHECK(contains(message_of([&] { model(tokens({2, 4})); }), "(2, 4)"));
    CHECK(contains(message_of([&] { model(tokens({3})); }), "(3,)"));
    CHECK(contains(message_of([] { nn::CausalSelfAttention(6, 4); }), "4 heads"));
}
