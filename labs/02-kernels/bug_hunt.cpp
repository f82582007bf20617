// A bug hunt: three instruments on a mountain path measure the pressure of the air, the
// height above a hut, and the temperature. Where the path climbs, the pressure falls: the
// correlation of pressure and height is -1. The temperature depends on neither, so its
// correlations are 0. The program reads them in chunks, as if they did not fit in memory,
// and finds something else. Find out why.
//
//     lab02_bug_hunt        prints what it finds; exits with 1 while a bug is left
//
// The kernels are right; they are called in a wrong way, with wrong numbers.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/kernels/kernels.hpp"
#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace {

using namespace mini;

constexpr int64_t kReadings = 256;
constexpr int64_t kChunk = 64;
constexpr int64_t kInstruments = 3;
constexpr double kVariance = 21.25;  // of the height, and of the temperature

struct Pair {
    const char* names;
    int64_t first, second;
    double expected;
};

constexpr std::array<Pair, 3> kPairs = {{{"pressure and height", 0, 1, -1},
                                         {"pressure and temperature", 0, 2, 0},
                                         {"height and temperature", 1, 2, 0}}};

// Returns the readings (kReadings, kInstruments). All of them are exact in float.
Tensor make_readings() {
    std::vector<float> values;
    for (int64_t i = 0; i < kReadings; ++i) {
        const auto climbed = static_cast<float>(i % 16);    // 16 places on the path
        values.push_back(101325.0f - 0.125f * climbed);     // Pa
        values.push_back(climbed);                          // m above the hut
        values.push_back(12 + static_cast<float>(i / 16));  // degrees, hour by hour
    }
    return Tensor::from(values, {kReadings, kInstruments}, Device::cpu());
}

Tensor number(double value) { return Tensor::scalar(static_cast<float>(value)); }

// Returns the mean of each column, shape (1, columns).
Tensor column_means(const Tensor& x) {
    return ops::div(ops::sum(x, {0}, true), number(static_cast<double>(x.shape()[0])));
}

// Returns the covariance of each pair of columns of x: the mean of the products of their
// distances from the means. Adds the products chunk by chunk.
Tensor covariance(const Tensor& x) {
    const int64_t rows = x.shape()[0], columns = x.shape()[1];
    Tensor products = Tensor::zeros({columns, columns}, DType::kFloat32, Device::cpu());
    for (int64_t begin = 0; begin < rows; begin += kChunk) {
        const Tensor chunk = ops::narrow(x, 0, begin, kChunk);
        const Tensor centred = ops::sub(chunk, column_means(chunk));
        const Tensor transposed = ops::transpose(centred, 0, 1);
        kernels::cpu::matmul(products.data<float>(), transposed.data<float>(),
                             centred.data<float>(), columns, columns, kChunk,
                             {.accumulate = true});
    }
    return ops::div(products, number(static_cast<double>(rows)));
}

double correlation(const std::vector<float>& covariances, int64_t i, int64_t j) {
    const auto at = [&](int64_t row, int64_t column) {
        return double{covariances[static_cast<size_t>(row * kInstruments + column)]};
    };
    return at(i, j) / std::sqrt(at(i, i) * at(j, j));
}

}  // namespace

int main() {
    const Tensor readings = make_readings();
    const Tensor matrix = covariance(readings);
    const std::vector<float> covariances = matrix.to_vector<float>();

    bool right = true;
    for (const Pair& pair : kPairs) {
        const double found = correlation(covariances, pair.first, pair.second);
        std::cout << fmt::format("{:<25} {:8.4f}   expected {:2.0f}\n", pair.names,
                                 found + 0.0, pair.expected);
        right = right && std::abs(found - pair.expected) < 1e-3;
    }
    for (const int64_t i : {1, 2}) {
        const double found =
            double{covariances[static_cast<size_t>(i * kInstruments + i)]};
        std::cout << fmt::format("variance of {:<13} {:8.4f}   expected {:.2f}\n",
                                 i == 1 ? "height" : "temperature", found, kVariance);
        right = right && std::abs(found - kVariance) < 1e-2;
    }
    std::cout << (right ? "the numbers are right\n" : "the numbers are wrong\n");
    return right ? 0 : 1;
}
