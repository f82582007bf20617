// strided_loops: the time and the memory of a view beside those of a copy, and the
// time of a loop over the length of its runs.
//
//     strided_loops         prints the two tables that measure.py reads
//
// Each time is the quickest of many trials: other programs disturbed it least.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace {

using namespace mini;
using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

// Returns the time of one call in ns: of `trials` trials of `calls` calls the quickest.
template <typename Body>
double quickest(int trials, int calls, const Body& body) {
    double best = 1e18;
    for (int trial = 0; trial < trials; ++trial) {
        const auto start = Clock::now();
        for (int call = 0; call < calls; ++call) body();
        best = std::min(best, Nanoseconds(Clock::now() - start).count());
    }
    return best / calls;
}

// The transpose of a square matrix, as a view and as a contiguous copy.
void compare_view_and_copy() {
    std::cout << "transpose   view, time   bytes   copy, time      bytes\n";
    for (const int64_t side : {16, 64, 256, 1024, 4096}) {
        const Tensor x = Tensor::zeros({side, side}, DType::kFloat32, Device::cpu());
        const double view =
            quickest(20, 1000, [&] { const Tensor t = ops::transpose(x, 0, 1); });
        const double copy = quickest(20, side > 256 ? 1 : 50, [&] {
            const Tensor t = ops::contiguous(ops::transpose(x, 0, 1));
        });
        std::cout << fmt::format("{:4} x {:<4} {:8.2f} us {:7} {:9.1f} us {:10}\n", side,
                                 side, view / 1e3, 0, copy / 1e3, x.bytes());
    }
}

// Copies rows of each length, which follow each other, so that all are one run, or which
// have a gap of one element between them, so that each row is a run.
void compare_run_lengths() {
    constexpr int64_t kElements = 65536;
    std::cout << "\nrow length   without gaps   with gaps, in ns per element\n";
    for (int64_t length = 2; length <= 4096; length *= 2) {
        const int64_t rows = kElements / length;
        const Tensor whole =
            Tensor::zeros({rows, length}, DType::kFloat32, Device::cpu());
        const Tensor wide =
            Tensor::zeros({rows, length + 1}, DType::kFloat32, Device::cpu());
        const Tensor part = ops::narrow(wide, 1, 0, length);
        Tensor out = Tensor::zeros({rows, length}, DType::kFloat32, Device::cpu());
        const double one = quickest(300, 1, [&] { ops::copy_(out, whole); });
        const double many = quickest(300, 1, [&] { ops::copy_(out, part); });
        std::cout << fmt::format("{:10}   {:12.3f}   {:9.3f}\n", length, one / kElements,
                                 many / kElements);
    }
}

}  // namespace

int main() {
    compare_view_and_copy();
    compare_run_lengths();
    return 0;
}
