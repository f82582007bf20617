// A bug hunt: Newton's method solves x + x³ = 10, with a derivative by autograd of an
// operation that this file adds to libmini. It converges, but much too slowly, although
// grad_check finds no mistake in the operation. Find out why the derivative is wrong, and
// why the check does not notice it.
//
//     lab03_bug_hunt        prints each step; exits with 1 while a bug is left
//
// Both mistakes are common in code that extends an autograd library.

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/grad_check.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

using Inputs = std::vector<Tensor>;
using Operation = std::function<Tensor(const Tensor&)>;

constexpr int kSteps = 8;

// x³, with the derivative 3 x².
Tensor cube(const Tensor& x) {
    return record("cube", ops::mul(x, ops::mul(x, x)), {x},
                  [x = SavedTensor(x)](const Tensor& g, const Node&) -> Grads {
                      const Tensor slope =
                          ops::mul(ops::mul(x.get(), x.get()), Tensor::scalar(3.0f));
                      Tensor dx = g;
                      ops::copy_(dx, ops::mul(g, slope));
                      return {dx};
                  });
}

// Returns whether the gradients of an operation are right, wherever it is used.
bool is_right(const Operation& operation) {
    const auto function = [&](const Inputs& x) { return operation(x[0]); };
    const Tensor x = Tensor::from(std::vector<float>{-1.5f, 0.25f, 2.0f});
    return grad_check(function, {x}).ok;
}

// Returns f(x) = x + x³ - 10.
Tensor f(const Tensor& x) { return x + cube(x) - 10.0f; }

// An operation with the gradient 1 that overwrites what it is given; is_right must say no.
Tensor bad_neighbour(const Tensor& x) {
    return record("bad_neighbour", ops::clone(x), {x},
                  [](const Tensor& g, const Node&) -> Grads {
                      const Tensor dx = ops::clone(g);
                      Tensor all = g;
                      ops::fill_(all, 0.0f);
                      return {dx};
                  });
}

}  // namespace

int main() {
    std::cout << fmt::format("grad_check of cube: {}\n", is_right(cube) ? "ok" : "wrong");

    // Newton's method doubles the number of correct digits in each step near the solution.
    Tensor x = Tensor::scalar(3.0f);
    for (int step = 0; step < kSteps; ++step) {
        x = x.detach();
        x.set_requires_grad();
        const Tensor value = f(x);
        value.backward();
        std::cout << fmt::format("x = {:.6f}   f(x) = {:10.6f}   f'(x) = {:.4f}\n",
                                 x.item(), value.item(), x.grad().item());
        const NoGradGuard no_grad;
        x = x - value / x.grad();
    }
    std::cout << fmt::format("after {} steps: {:.6f}; the solution is 2\n", kSteps,
                             x.item());
    if (std::abs(x.item() - 2.0) > 1e-6 || !is_right(cube)) return 1;

    // Check the check itself.
    if (is_right(bad_neighbour)) {
        std::cout << "the check is still wrong: it accepts an operation that overwrites "
                     "the gradient of its neighbour\n";
        return 1;
    }
    return 0;
}
