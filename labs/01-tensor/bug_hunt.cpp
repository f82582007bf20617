// A bug hunt: fits the line y = 2 x + 1 to a table of eight points that are exactly on
// this line. The loss falls, but the line is wrong, and the table has changed. Find out
// why.
//
//     lab01_bug_hunt        prints the line; exits with 1 while a bug is left
//
// Both mistakes are legal operations on views, so the library throws no error.

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace {

using namespace mini;

constexpr int64_t kPoints = 8;
constexpr int kSteps = 100;
constexpr double kRate = 0.5;

// Returns the table: column 0 is x = 0, 1, 2, ..., column 1 is y = 2 x + 1.
Tensor make_table() {
    std::vector<float> values;
    for (int64_t i = 0; i < kPoints; ++i) {
        values.push_back(static_cast<float>(i));
        values.push_back(static_cast<float>(2 * i + 1));
    }
    return Tensor::from(values, {kPoints, 2}, Device::cpu());
}

Tensor number(double value) { return Tensor::scalar(static_cast<float>(value)); }

// Returns the mean of all elements.
double mean(const Tensor& x) {
    return ops::sum(x).item() / static_cast<double>(x.numel());
}

struct Line {
    double slope, intercept, first_loss, last_loss;
};

// Fits a line by gradient descent on the mean squared error. x is standardized first, to
// mean 0 and spread 1, so that one learning rate suits both parameters.
Line fit(const Tensor& table) {
    Tensor x = ops::narrow(table, 1, 0, 1);
    const double centre = mean(x);
    ops::copy_(x, ops::sub(x, number(centre)));
    const double spread = std::sqrt(mean(ops::mul(x, x)));
    ops::copy_(x, ops::div(x, number(spread)));
    const Tensor y = ops::select(table, 1, 1);

    double weight = 0, bias = 0, first_loss = 0, loss = 0;
    for (int step = 0; step < kSteps; ++step) {
        const Tensor prediction = ops::add(ops::mul(x, number(weight)), number(bias));
        const Tensor error = ops::sub(prediction, y);
        loss = mean(ops::mul(error, error));
        if (step == 0) first_loss = loss;
        weight -= kRate * mean(ops::mul(error, x));  // half of d loss / d weight
        bias -= kRate * mean(error);
    }
    return {weight / spread, bias - weight * centre / spread, first_loss, loss};
}

bool is_close(double a, double b) { return std::abs(a - b) < 1e-3; }

}  // namespace

int main() {
    const Tensor table = make_table();
    const Line line = fit(table);
    std::cout << fmt::format("y = {:.4f} x + {:.4f}   loss {:.4f} -> {:.4f}\n",
                             line.slope + 0.0, line.intercept, line.first_loss,
                             line.last_loss);

    const bool right = is_close(line.slope, 2) && is_close(line.intercept, 1);
    const bool same = table.to_vector<float>() == make_table().to_vector<float>();
    std::cout << (right ? "the line is right\n" : "the line is wrong\n");
    std::cout << (same ? "the table is as it was\n" : "the table has changed\n");
    return right && same ? 0 : 1;
}
