// A bug hunt: a map is drawn from distances alone. Gradient descent moves the cities
// until each pair has its wanted distance. The loss of the first step is right, and each
// operation has the right gradient, but from the second step on nothing is a number.
//
//     lab03_bug_hunt        prints the steps; exits with 1 while a map is wrong
//
// Exit codes: 0 the distances of all maps are right, 1 they are not.

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/grad_check.hpp"
#include "libmini/random/random.hpp"

using namespace mini;

namespace {

constexpr int kSteps = 400;
constexpr int kShown = 3;
constexpr float kRate = 0.02f;

// Returns the distances of all pairs of cities; `cities` is (n, 2), the result (n, n).
Tensor distances(const Tensor& cities) {
    const int64_t n = cities.size(0);
    const Tensor between =
        reshape(cities, {n, 1, 2}) - reshape(cities, {1, n, 2});  // (n, n, 2)
    return sqrt(sum(between * between, {2}));
}

// Returns n cities around a circle, and somewhat beside it.
Tensor true_map(int64_t n) {
    Tensor cities = Tensor::zeros({n, 2});
    for (int64_t i = 0; i < n; ++i) {
        const float angle = 6.283f * static_cast<float>(i) / static_cast<float>(n);
        cities.span<float>()[static_cast<size_t>(2 * i)] = std::cos(angle);
        cities.span<float>()[static_cast<size_t>(2 * i + 1)] = 1.5f * std::sin(angle);
    }
    return cities;
}

// Returns 1 for each pair of two cities, and 0 for a city and itself.
Tensor pairs(int64_t n) {
    Tensor mask = Tensor::ones({n, n});
    for (int64_t i = 0; i < n; ++i)
        mask.span<float>()[static_cast<size_t>(i * n + i)] = 0;
    return mask;
}

// Draws a map of n cities, and prints the first steps. Returns the largest error of a
// distance in the end.
double draw_map(int64_t n) {
    const Tensor wanted = distances(true_map(n)), mask = pairs(n);
    Generator generator(7);
    Tensor cities = Tensor::empty({n, 2});
    fill_normal(cities.span<float>(), 0, 1, generator);
    cities.set_requires_grad();
    for (int step = 0; step < kSteps; ++step) {
        const Tensor error = (distances(cities) - wanted) * mask;
        const Tensor loss = sum(error * error);
        loss.backward();
        if (step < kShown)
            std::cout << fmt::format("{} cities, step {}: loss {:.4f}\n", n, step,
                                     loss.item());
        cities = (cities - cities.grad() * kRate).detach();
        cities.set_requires_grad();
    }
    double largest = 0;
    for (const float error : (distances(cities) - wanted).detach().to_vector<float>())
        if (!(std::abs(error) <= largest)) largest = std::abs(error);
    return largest;
}

}  // namespace

int main() {
    const Tensor x = Tensor::from(std::vector<float>{0.25f, 1.0f, 4.0f});
    const auto root = [](const std::vector<Tensor>& inputs) { return sqrt(inputs[0]); };
    std::cout << fmt::format("grad_check of sqrt: {}\n",
                             grad_check(root, {x}).ok ? "ok" : "wrong");
    bool right = true;
    for (const int64_t n : {2, 3, 5}) {
        const double error = draw_map(n);
        right = right && error < 1e-3;
        std::cout << fmt::format("{} cities: the largest error of a distance is {:.4f}\n",
                                 n, error);
    }
    std::cout << (right ? "the maps are right\n" : "the maps are wrong\n");
    return right ? 0 : 1;
}
