#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;

TEST_CASE("dropout keeps and scales the same elements as PyTorch", "[cpu]") {
    int compared = 0;
    const nlohmann::json cases = golden_cases("dropout");
    for (const auto& entry : cases) {
        if (entry.at("what").get<std::string>() != "F.dropout(ones(n),p,True)") continue;
        const double p = entry.at("p");
        const std::string kept = entry.at("kept");
        CAPTURE(entry.at("seed").dump(), p, kept.size());
        Generator generator(entry.at("seed").get<uint64_t>());
        const Tensor y = dropout(Tensor::ones({static_cast<int64_t>(kept.size())}), p,
                                 true, generator);
        std::string ours;
        std::set<float> scales;
        for (const float value : y.to_vector<float>()) {
            ours += value != 0.0f ? '1' : '0';
            if (value != 0.0f) scales.insert(value);
        }
        CHECK(ours == kept);
        if (!scales.empty())
            CHECK(scales == std::set<float>{entry.at("scale").get<float>()});
        ++compared;
    }
    CHECK(compared >= 3);
}

TEST_CASE(
    "dropout returns its input and draws nothing in evaluation or with probability 0") {
    Generator generator(3);
    const Tensor x = Tensor::ones({5});
    CHECK(dropout(x, 0.5, false, generator).is_same(x));
    CHECK(dropout(x, 0.0, true, generator).is_same(x));
    Generator fresh(3);
    CHECK(generator.random() == fresh.random());
}

// For x (N, C), dropout2d draws a mask of x's shape, and multiplies by it in an operation
// of its own.
TEST_CASE("dropout multiplies x and the gradient by the same mask as dropout2d") {
    const int64_t columns = GENERATE(0, 1, 40);
    Generator data(5);
    Tensor x = Tensor::empty({27, 2 * columns}, DType::kFloat32, Device::cpu());
    fill_normal(x.span<float>(), 0.0, 1.0, data);
    x = x.to(default_device());
    const Tensor strided = ops::narrow(x, 1, 0, columns);

    std::vector<std::vector<float>> results;
    for (const bool channels : {false, true}) {
        Generator generator(3);
        Tensor leaf = strided.detach().set_requires_grad();
        const Tensor y = channels ? dropout2d(leaf, 0.3, true, generator)
                                  : dropout(leaf, 0.3, true, generator);
        sum(y * y).backward();
        results.push_back(y.to_vector<float>());
        results.push_back(leaf.grad().to_vector<float>());
    }
    CHECK(results[0] == results[2]);
    CHECK(results[1] == results[3]);
}

TEST_CASE("dropout with probability 1 returns zeros and draws nothing") {
    const bool channels = GENERATE(false, true);
    CAPTURE(channels);
    Generator generator(3);
    const Tensor x = Tensor::ones({3, 1}).set_requires_grad();
    const auto drop = [&](const Tensor& from) {
        return channels ? dropout2d(from, 1.0, true, generator)
                        : dropout(from, 1.0, true, generator);
    };
    const Tensor y = drop(x);
    CHECK(y.to_vector<float>() == std::vector<float>{0, 0, 0});
    sum(y).backward();
    CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 0, 0});
    CHECK(std::isnan(drop(Tensor::full({1, 1}, INFINITY)).item()));
    Generator fresh(3);
    CHECK(generator.random() == fresh.random());
}

// PyTorch divides 1 by 1 - p, rounded to a float.
TEST_CASE("dropout multiplies by the float 1 / (1 - p)") {
    for (int i = 1; i < 99; ++i) {
        const double p = i / 100.0;
        CAPTURE(p);
        Generator generator(1);
        const float scale = 1.0f / static_cast<float>(1.0 - p);
        for (const Shape& shape : {Shape{2000}, Shape{2000, 1}}) {
            const Tensor x = Tensor::ones(shape);
            const Tensor y = shape.size() == 1 ? dropout(x, p, true, generator)
                                               : dropout2d(x, p, true, generator);
            const auto values = y.to_vector<float>();
            CHECK(std::set<float>(values.begin(), values.end()) ==
                  std::set<float>{0, scale});
        }
    }
}

// The kept elements are those of PyTorch 2.15 with this seed.
TEST_CASE("dropout draws in the order of the memory of a strided input", "[cpu]") {
    using Values = std::vector<float>;
    const auto dropped = [](const Tensor& x) {
        Generator generator(0);
        return dropout(x, 0.5, true, generator).to_vector<float>();
    };
    CHECK(dropped(Tensor::ones({3, 2})) == Values{0, 0, 2, 0, 0, 0});
    CHECK(dropped(ops::transpose(Tensor::ones({2, 3}), 0, 1)) ==
          Values{0, 0, 0, 0, 2, 0});
    CHECK(dropped(ops::expand(Tensor::ones({2, 1}), {2, 3})) == Values{0, 0, 2, 0, 0, 0});
    CHECK(dropped(ops::permute(Tensor::ones({2, 3, 2, 2}), {0, 2, 3, 1})) ==
          Values{0, 0, 0, 0, 0, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2, 0, 2, 0, 2, 0, 2, 2, 0, 0});

    // The gradient has the same mask.
    const Tensor leaf = Tensor::ones({2, 3}).set_requires_grad();
    Generator generator(0);
    sum(dropout(transpose(leaf, 0, 1), 0.5, true, generator)).backward();
    CHECK(leaf.grad().to_vector<float>() == Values{0, 0, 2, 0, 0, 0});
}

TEST_CASE("a dropout probability below 0 or above 1 or NaN throws UsageError") {
    CHECK_THROWS_AS(dropout(Tensor::ones({3}), -0.1, true), UsageError);
    CHECK_THROWS_AS(dropout(Tensor::ones({3}), 1.1, true), UsageError);
    CHECK_THROWS_AS(dropout(Tensor::ones({3}), std::nan(""), true), UsageError);
}
