// Log-softmax over rows of class scores.
//
// exp(x) overflows a float if x > 88. Subtracting the row's maximum m first does not
// change the result in exact arithmetic, and makes every exponent at most 0:
//
//     log softmax(x)[j] = x[j] - m - log(sum over k of exp(x[k] - m))

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/kernels.hpp"

// [lab02 file]
namespace mini::kernels::cpu {
namespace {

constexpr int64_t kSoftmaxGrain = 4096;  // elements per chunk
constexpr int64_t kBlock = 1024;         // terms that are added in float

// Returns the sum of term(j) for all j below n: each block of kBlock terms in float, and the
// blocks in double. A float sum of ones stays at 2^24.
template <typename Term>
float sum_in_blocks(int64_t n, const Term& term) {
    double total = 0.0;
    for (int64_t begin = 0; begin < n; begin += kBlock) {
        const int64_t end = std::min(n, begin + kBlock);
        float block = 0.0f;
        for (int64_t j = begin; j < end; ++j) block += term(j);
        total += block;
    }
    return static_cast<float>(total);
}

void log_softmax_row(float* y, const float* x, int64_t cols) {
    // [lab02.2] Subtract the maximum; then the logarithm of the sum of the exponentials.
    const float greatest = *std::max_element(x, x + cols);
    const float log_total = std::log(
        sum_in_blocks(cols, [&](int64_t j) { return std::exp(x[j] - greatest); }));
    for (int64_t j = 0; j < cols; ++j) y[j] = x[j] - greatest - log_total;
    // [lab02.2]
}

void log_softmax_backward_row(float* dx, const float* g, const float* y, int64_t cols) {
    // [lab02.2] Subtract from g the softmax times the sum of g; exp(y) is the softmax.
    const float total = sum_in_blocks(cols, [&](int64_t j) { return g[j]; });
    for (int64_t j = 0; j < cols; ++j) dx[j] = g[j] - std::exp(y[j]) * total;
    // [lab02.2]
}

// Calls body(start) with the start of each row of `cols` elements.
template <typename Body>
void for_each_row(int64_t rows, int64_t cols, Body body) {
    if (cols == 0) return;
    parallel_for(rows, std::max<int64_t>(1, kSoftmaxGrain / cols),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) body(i * cols);
                 });
}

}  // namespace

void log_softmax(float* y, const float* x, int64_t rows, int64_t cols) {
    for_each_row(rows, cols,
                 [&](int64_t start) { log_softmax_row(y + start, x + start, cols); });
}

void log_softmax_backward(float* dx, const float* g, const float* y, int64_t rows,
                          int64_t cols) {
    for_each_row(rows, cols, [&](int64_t start) {
        log_softmax_backward_row(dx + start, g + start, y + start, cols);
    });
}

}  // namespace mini::kernels::cpu
// [lab02 file]
