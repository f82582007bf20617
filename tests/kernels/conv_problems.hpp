// Convolutions to compute, and their definition.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/kernels/kernels.hpp"

namespace mini::kernels {

struct ConvProblem {
    ImageExtents in;
    int64_t O;
    Window window;

    int64_t Ho() const { return window.output(in.H); }
    int64_t Wo() const { return window.output(in.W); }
    int64_t x_size() const { return in.N * in.C * in.H * in.W; }
    int64_t y_size() const { return in.N * O * Ho() * Wo(); }
    int64_t w_size() const { return O * in.C * window.kernel * window.kernel; }
};

inline const std::vector<ConvProblem> kProblems = {
    {{1, 1, 1, 1}, 1, {1, 1, 0}},     // one multiplication
    {{2, 1, 28, 28}, 10, {5, 1, 0}},  // the tutorial's first layer
    {{17, 10, 12, 12},
     20,
     {5, 1, 0}},  // the tutorial's second layer, with images in two chunks
    {{0, 3, 8, 8}, 4, {3, 1, 1}},   // no images
    {{3, 2, 7, 5}, 4, {3, 1, 1}},   // padding, not square
    {{2, 3, 9, 8}, 1, {3, 2, 0}},   // a last column without a window; one output channel
    {{2, 1, 6, 7}, 3, {2, 3, 1}},   // a stride longer than the window
    {{2, 2, 3, 3}, 2, {3, 1, 0}},   // a window as large as the image
    {{2, 2, 2, 2}, 3, {4, 1, 1}},   // a window as large as the image and its padding
    {{17, 2, 5, 4}, 3, {1, 1, 0}},  // 1 x 1
    {{2, 2, 4, 4}, 2, {3, 2, 2}},   // windows that are mostly padding
    // Direct: tiles that overlap at the end of rows and columns, and channels left over.
    {{2, 3, 11, 13}, 7, {3, 1, 0}},
    {{9, 2, 9, 8}, 4, {3, 1, 1}},
    {{1, 2, 10, 19}, 1, {3, 1, 2}},
    {{3, 4, 7, 12}, 6, {5, 1, 0}},
    {{2, 2, 10, 14}, 11, {5, 1, 2}},
    {{2, 1, 5, 15}, 3, {3, 1, 0}},
    {{2, 2, 10, 11}, 3, {5, 1, 1}},
    {{3, 2, 8, 15}, 3, {5, 1, 0}},  // 4 rows, the least that a direct convolution has
    {{3, 2, 6, 10}, 8, {3, 1, 0}},
    {{3, 2, 7, 15}, 3, {5, 1, 0}},     // 3 rows
    {{19, 2, 16, 16}, 13, {3, 1, 1}},  // gradients of several chunks of images
    // Products: several blocks of rows, of positions, of channels and of columns.
    {{2, 3, 5, 6}, 140, {3, 1, 1}},
    {{23, 30, 3, 3}, 7, {3, 1, 1}},
    {{2, 130, 4, 5}, 33, {1, 1, 0}},
    {{3, 31, 9, 7}, 34, {3, 2, 1}},
    {{2, 5, 21, 23}, 6, {7, 2, 3}},
    {{3, 2, 19, 17}, 35, {4, 3, 1}},
    {{5, 33, 6, 5}, 9, {1, 2, 0}},   // inputs in no window
    {{6, 40, 1, 1}, 32, {3, 1, 1}},  // all rows of the window but one read only padding
    {{3, 4, 2, 1}, 5, {5, 2, 2}},
    {{2, 2, 1, 1}, 2, {1, 3, 1}},    // a window that reads only padding
    {{1, 1, 2, 3}, 2, {20, 1, 19}},  // a window larger than a step of channels
    {{1, 1, 68, 67}, 2, {3, 1, 1}},  // gradient of w: several lines in each part
    {{1, 5, 3, 5}, 531, {1, 1, 0}},  // more rows than a block has
    {{2, 531, 4, 3}, 2, {1, 1, 0}},
};

// Calls visit(y index, x index, w index) for each multiplication of the convolution.
template <typename Visit>
void for_each_multiplication(const ConvProblem& p, Visit visit) {
    const auto [N, C, H, W] = p.in;
    const auto [kernel, stride, padding] = p.window;
    for (int64_t y = 0; y < p.y_size(); ++y) {
        const int64_t j = y % p.Wo(), i = y / p.Wo() % p.Ho();
        const int64_t o = y / (p.Wo() * p.Ho()) % p.O, n = y / (p.Wo() * p.Ho() * p.O);
        for (int64_t tap = 0; tap < C * kernel * kernel; ++tap) {
            const int64_t c = tap / (kernel * kernel);
            const int64_t h = i * stride + tap / kernel % kernel - padding;
            const int64_t w = j * stride + tap % kernel - padding;
            if (h < 0 || h >= H || w < 0 || w >= W) continue;
            visit(y, ((n * C + c) * H + h) * W + w, o * C * kernel * kernel + tap);
        }
    }
}

}  // namespace mini::kernels
