// A bug hunt: a small network learns to tell coloured stripes apart, and learns little:
// the program has three mistakes.
//
//     lab05_bug_hunt
//
// Exit codes: 0 if no mistake is left, else 1.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/grad_check.hpp"
#include "libmini/nn/conv.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int64_t kSide = 12, kColours = 3, kClasses = 6, kImages = 600;
constexpr int64_t kBatch = 50;
constexpr int kEpochs = 12;

// The weights of the blur in a window of 3 x 3, row by row: the camera has moved.
constexpr std::array<float, 9> kTaps{0.3f, 0.2f, 0.0f, 0.2f, 0.2f, 0.0f, 0.1f, 0, 0};

// Photos as a camera writes them: (N, height, width, colour), row by row, and in a row
// the three colours of one pixel after those of another. Class 2 c + 1 has vertical stripes
// of colour c, class 2 c horizontal stripes.
struct Photos {
    std::vector<float> values;
    std::vector<int64_t> classes;
};

Photos take_photos(uint64_t seed) {
    Generator generator(seed);
    Photos photos;
    photos.values.resize(static_cast<size_t>(kImages * kSide * kSide * kColours));
    fill_normal(photos.values, 0, 0.7, generator);
    for (int64_t n = 0; n < kImages; ++n) {
        const int64_t label = n % kClasses, shift = (n / kClasses) % 4;
        photos.classes.push_back(label);
        for (int64_t h = 0; h < kSide; ++h)
            for (int64_t w = 0; w < kSide; ++w) {
                const int64_t across = (label % 2 == 1 ? w : h) + shift;
                const int64_t at = ((n * kSide + h) * kSide + w) * kColours + label / 2;
                photos.values[static_cast<size_t>(at)] += across % 4 < 2 ? 1.0f : -1.0f;
            }
    }
    return photos;
}

// Returns the photos as images (N, colour, height, width).
Tensor images_of(const Photos& photos) {
    return Tensor::from(photos.values, {kImages, kColours, kSide, kSide});
}

// Returns the sum of each window of 3 x 3 of x (N, C, H, W) at stride 1, weighted by
// kTaps.
Tensor blur(const Tensor& x) {
    const int64_t planes = x.size(0) * x.size(1), H = x.size(2), W = x.size(3);
    Tensor y = Tensor::zeros({x.size(0), x.size(1), H - 2, W - 2});
    // Calls visit(index in y, index in x, tap) for each element of each window.
    const auto for_each = [planes, H, W](const auto& visit) {
        for (int64_t at = 0; at < planes * (H - 2) * (W - 2); ++at) {
            const int64_t j = at % (W - 2), i = at / (W - 2) % (H - 2);
            const int64_t plane = at / (W - 2) / (H - 2);
            for (int64_t tap = 0; tap < 9; ++tap)
                visit(at, (plane * H + i + tap / 3) * W + j + tap % 3,
                      static_cast<size_t>(tap));
        }
    };
    const float* from = x.data<float>();
    float* to = y.data<float>();
    for_each(
        [&](int64_t out, int64_t in, size_t tap) { to[out] += kTaps[tap] * from[in]; });
    return record("blur", y, {x},
                  [shape = x.shape(), for_each](const Tensor& g, const Node&) -> Grads {
                      Tensor dx = Tensor::zeros(shape);
                      const float* grad = g.data<float>();
                      float* sum = dx.data<float>();
                      // In backward the filter is turned by 180 degrees.
                      for_each([&](int64_t out, int64_t in, size_t tap) {
                          sum[in] += kTaps[8 - tap] * grad[out];
                      });
                      return {dx};
                  });
}

class Stripes : public nn::Module {
  public:
    Stripes() {
        register_module("conv", conv_);
        register_module("fc", fc_);
    }
    Tensor forward(const Tensor& x) override {
        Tensor y = relu(conv_(x));           // (N, 8, 10, 10)
        y = dropout2d(blur(y), 0.25, true);  // (N, 8, 8, 8)
        y = max_pool2d(y, 2);                // (N, 8, 4, 4)
        return fc_(flatten(y, 1));           // (N, 6)
    }

  private:
    nn::Conv2d conv_{kColours, 8, 3};
    nn::Linear fc_{128, kClasses};
};

// Returns the share of the photos that are classified correctly, in evaluation.
double accuracy(Stripes& model, const Photos& photos) {
    model.eval();
    const std::vector<float> scores = model(images_of(photos)).to_vector<float>();
    model.train();
    int64_t correct = 0;
    for (int64_t n = 0; n < kImages; ++n) {
        const float* row = scores.data() + n * kClasses;
        correct += std::max_element(row, row + kClasses) - row == photos.classes[n];
    }
    return static_cast<double>(correct) / static_cast<double>(kImages);
}

// Returns the loss of the last epoch.
double fit(Stripes& model, const Photos& photos) {
    const Tensor x = images_of(photos), target = Tensor::from(photos.classes);
    optim::SGD optimizer(model.parameters(), {.lr = 0.05, .momentum = 0.9});
    double mean = 0;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
        mean = 0;
        for (int64_t begin = 0; begin < kImages; begin += kBatch) {
            optimizer.zero_grad();
            const Tensor loss = cross_entropy(model(narrow(x, 0, begin, kBatch)),
                                              narrow(target, 0, begin, kBatch));
            loss.backward();
            optimizer.step();
            mean += loss.item() * static_cast<double>(kBatch) / kImages;
        }
    }
    return mean;
}

// ---- what is wrong

// Returns the program's complaint, or "".
std::string complaint_about(Stripes& model, const Photos& photos) {
    model.eval();
    const Tensor x = images_of(photos);
    if (model(x).to_vector<float>() != model(x).to_vector<float>())
        return "in evaluation the same images get other scores";
    model.train();
    if (model(x).to_vector<float>() == model(x).to_vector<float>())
        return "in training no channel is dropped";
    std::vector<float> of_photo;
    for (int64_t k = 0; k < kSide * kSide; ++k)
        of_photo.push_back(photos.values[static_cast<size_t>(k * kColours)]);
    if (ops::contiguous(ops::select(ops::select(x, 0, 0), 0, 0)).to_vector<float>() !=
        of_photo)
        return "channel 0 of the first image is not the red of the first photo";
    Tensor small = Tensor::ones({1, 1, 4, 4});
    small.set_requires_grad();
    const GradCheckResult result =
        grad_check([](const std::vector<Tensor>& in) { return blur(in[0]); }, {small});
    return result.ok ? "" : "blur: " + result.message;
}

}  // namespace

int main() {
    manual_seed(1);
    Stripes model;
    const Photos training = take_photos(2), test = take_photos(3);
    const double loss = fit(model, training);
    std::cout << fmt::format(
        "loss of the last epoch {:.4f}\ntest accuracy {:.4f}, again "
        "{:.4f}\n",
        loss, accuracy(model, test), accuracy(model, test));
    const std::string complaint = complaint_about(model, training);
    std::cout << (complaint.empty() ? "no mistake is left" : complaint) << '\n';
    return complaint.empty() ? 0 : 1;
}
