// Sums, and the index of the greatest element. Sums are pairwise: each half of the rows is
// summed separately, and the two sums are added. An element is then rounded about log2(n)
// times instead of n times, so a sum of ten million floats keeps six digits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/parallel.hpp"
#include "libmini/kernels/kernels.hpp"

// [lab02 file]
namespace mini::kernels::cpu {
namespace {

constexpr int64_t kRowsInLine = 16;      // up to this many rows are added in order
constexpr int64_t kFoldedColumns = 32;   // columns of a matrix made from a long row
constexpr int64_t kReduceGrain = 65536;  // elements per chunk

// out = the sum of the rows of x (rows, cols); zeros if rows is 0. Up to kRowsInLine rows
// are added in order. More rows are halved: rows / 2 rows, and the rest. Scratch: cols
// floats for each halving, as many as halvings(rows) returns.
void sum_rows(float* __restrict out, const float* __restrict x, int64_t rows,
              int64_t cols, float* __restrict scratch) {
    // [lab02.1] Sum each half, the second in scratch, and add the two; or add in order.
    if (rows > kRowsInLine) {
        const int64_t half = rows / 2;
        sum_rows(out, x, half, cols, scratch + cols);
        sum_rows(scratch, x + half * cols, rows - half, cols, scratch + cols);
        for (int64_t j = 0; j < cols; ++j) out[j] += scratch[j];
        return;
    }
    std::fill(out, out + cols, 0.0f);
    for (int64_t k = 0; k < rows; ++k)
        for (int64_t j = 0; j < cols; ++j) out[j] += x[k * cols + j];
    // [lab02.1]
}

// Returns how many times sum_rows halves `rows` rows.
int64_t halvings(int64_t rows) {
    int64_t count = 0;
    for (; rows > kRowsInLine; rows -= rows / 2) ++count;
    return count;
}

// Returns the sum of n numbers: reads them as a matrix with kFoldedColumns columns, sums
// the columns of its complete rows, adds the remaining numbers, and adds the columns'
// sums.
float sum_row(const float* x, int64_t n, float* scratch) {
    float lanes[kFoldedColumns];
    float total = 0.0f;
    // [lab02.1] Sum the columns of the complete rows; add the rest; add the 32 sums.
    sum_rows(lanes, x, n / kFoldedColumns, kFoldedColumns, scratch);
    for (int64_t i = n / kFoldedColumns * kFoldedColumns; i < n; ++i)
        lanes[i % kFoldedColumns] += x[i];
    for (const float lane : lanes) total += lane;
    // [lab02.1]
    return total;
}

}  // namespace

void sum(float* out, const float* x, int64_t outer, int64_t reduced, int64_t inner) {
    const int64_t size = reduced * inner;
    const int64_t grain = std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(1, size));
    const int64_t cols = inner == 1 ? kFoldedColumns : inner;
    parallel_for(outer, grain, [&](int64_t begin, int64_t end) {
        const auto needed = static_cast<size_t>(cols * halvings(reduced));
        thread_local std::vector<float> scratch;  // keeps its memory for the next call
        if (scratch.size() < needed) scratch.resize(needed);
        for (int64_t i = begin; i < end; ++i) {
            if (inner == 1)
                out[i] = sum_row(x + i * size, reduced, scratch.data());
            else
                sum_rows(out + i * inner, x + i * size, reduced, inner, scratch.data());
        }
    });
}

void argmax(int64_t* out, const float* x, int64_t rows, int64_t cols) {
    const int64_t grain = std::max<int64_t>(1, kReduceGrain / std::max<int64_t>(1, cols));
    parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const float* row = x + i * cols;
            int64_t best = 0;
            // [lab02.2] Find the first maximum; the first NaN, if there is one.
            for (int64_t j = 1; j < cols && !std::isnan(row[best]); ++j)
                if (row[j] > row[best] || std::isnan(row[j])) best = j;
            // [lab02.2]
            out[i] = best;
        }
    });
}

}  // namespace mini::kernels::cpu
// [lab02 file]
