// Compares ten training steps of the tutorial's ConvNet with PyTorch.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;

namespace {

constexpr int64_t kBatch = 32;

// Returns one batch of the images of tests/golden/make_convnet.py. Before the
// normalisation, pixel k of all images is ((7919 k) mod 256) / 255.
Tensor images(int64_t batch) {
    std::vector<float> values(static_cast<size_t>(kBatch * 784));
    for (size_t i = 0; i < values.size(); ++i) {
        const auto k = static_cast<uint64_t>(batch * kBatch * 784) + i;
        values[i] = (static_cast<float>((7919 * k) % 256) / 255.0f - 0.1307f) / 0.3081f;
    }
    return Tensor::from(values, {kBatch, 1, 28, 28});
}

Tensor labels(int64_t batch) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < kBatch; ++i) values.push_back(3 * (batch * kBatch + i) % 10);
    return Tensor::from(values);
}

double sum_of(const Tensor& x) {
    double sum = 0.0;
    for (const float value : x.to_vector<float>()) sum += value;
    return sum;
}

}  // namespace

TEST_CASE(
    "ten training steps of the ConvNet give PyTorch's losses with and without dropout") {
    const nlohmann::json cases = golden_cases("convnet_synthetic");
    CHECK(cases.size() == 4);
    int compared = 0;
    for (const auto& expected : cases) {
        CAPTURE(expected.at("seed").dump(), expected.at("training").dump());
        const bool training = expected.at("training").get<bool>();
        // A GPU draws other masks. One seed is enough there: another has other numbers.
        if (default_device().is_cuda() && (training || compared == 1)) continue;
        ++compared;
        manual_seed(expected.at("seed").get<uint64_t>());
        nn::ConvNet net;
        net.train(training);
        optim::SGD optimizer(net.parameters(), {.lr = 0.01, .momentum = 0.5});
        for (int64_t batch = 0; batch < 10; ++batch) {
            CAPTURE(batch);
            optimizer.zero_grad();
            const Tensor loss = cross_entropy(net(images(batch)), labels(batch));
            loss.backward();
            optimizer.step();
            // Sums of up to 320 float32 products in a different order: a relative error
            // of about 1e-6 per layer.
            const double wanted = expected.at("losses").at(static_cast<size_t>(batch));
            CHECK(std::abs(loss.item() - wanted) < 1e-5 * wanted);
        }
        for (const auto& [name, parameter] : net.named_parameters()) {
            CAPTURE(name);
            const double wanted = expected.at("parameter_sums").at(name);
            CHECK(std::abs(sum_of(parameter) - wanted) < 1e-3);
        }
    }
    CHECK(compared == (default_device().is_cuda() ? 1 : 4));
}
