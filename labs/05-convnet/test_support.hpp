// Helpers for the checks of lab 05: convolutions, and their definition.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "labs/check/arrays.hpp"
#include "labs/check/values.hpp"
#include "libmini/core/error.hpp"
#include "libmini/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab05 {

using kernels::ImageExtents, kernels::Window;
using kernels::kNaN, kernels::small_integers, kernels::normal_numbers,
    kernels::first_difference, kernels::identical_for_any_threads;
using labs::Values, labs::values_of, labs::count_up, labs::rows_of;

// Memory that must be written: NaN everywhere.
inline Values unwritten(int64_t size) { return Values(static_cast<size_t>(size), kNaN); }

struct Convolution {
    ImageExtents in;
    int64_t O;
    Window window;

    int64_t Ho() const { return window.output(in.H); }
    int64_t Wo() const { return window.output(in.W); }
    int64_t K() const { return in.C * window.kernel * window.kernel; }
    int64_t x_size() const { return in.N * in.C * in.H * in.W; }
    int64_t y_size() const { return in.N * O * Ho() * Wo(); }
    int64_t w_size() const { return O * K(); }

    std::string in_words() const {
        return concat(in.N, " image(s) ", in.C, " x ", in.H, " x ", in.W, ", ", O,
                      " filter(s) of ", window.kernel, " x ", window.kernel, ", stride ",
                      window.stride, ", padding ", window.padding);
    }
};

// Calls visit(index in y, index in x, index in w) for each product of the convolution:
// its definition.
template <typename Visit>
void for_each_product(const Convolution& of, Visit visit) {
    const auto [N, C, H, W] = of.in;
    const auto [kernel, stride, padding] = of.window;
    for (int64_t y = 0; y < of.y_size(); ++y) {
        const int64_t j = y % of.Wo(), i = y / of.Wo() % of.Ho();
        const int64_t o = y / (of.Wo() * of.Ho()) % of.O,
                      n = y / (of.Wo() * of.Ho() * of.O);
        for (int64_t k = 0; k < of.K(); ++k) {
            const int64_t c = k / (kernel * kernel);
            const int64_t h = i * stride + k / kernel % kernel - padding;
            const int64_t w = j * stride + k % kernel - padding;
            if (h < 0 || h >= H || w < 0 || w >= W) continue;
            visit(y, ((n * C + c) * H + h) * W + w, o * of.K() + k);
        }
    }
}

// Checks all elements, and reports the first difference. `shape`: of `expected`.
inline void check_equal(const std::string& name, const Values& got,
                        const Values& expected, const Shape& shape) {
    const int64_t at = first_difference(got, expected);
    if (at == kernels::kNoDifference) return;
    std::string index;
    int64_t rest = at;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        index = concat(rest % shape[d], index.empty() ? "" : ", ", index);
    INFO("the first wrong element is "
         << name << "[" << index << "]: expected " << expected[static_cast<size_t>(at)]
         << ", got " << got[static_cast<size_t>(at)] << "; nan: it was not written");
    CHECK(got[static_cast<size_t>(at)] == expected[static_cast<size_t>(at)]);
}

}  // namespace mini::lab05
