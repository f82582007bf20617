// matmul_variants: the speed of each variant of the matrix product, compared with what this
// machine could do at most.
//
//     matmul_variants          prints the tables that measure.py reads
//
// One thread; the quickest of up to 40 trials, since other programs disturbed it least. A
// product of N x N matrices counts as 2 N³ floating-point operations (FLOP). Bytes are
// those that must be moved if each array is read or written once.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iostream>
#include <vector>

#include "labs/02-kernels/matmul_ladder.hpp"
#include "labs/measure/machine_limits.hpp"
#include "labs/measure/timing.hpp"
#include "libmini/kernels/kernels.hpp"

namespace {

using namespace mini;
namespace cpu = kernels::cpu;
using Matmul = void (*)(float*, const float*, const float*, int64_t, int64_t, int64_t);

constexpr int kTrials = 40;           // per measurement: the quickest counts
constexpr double kSeconds = 0.01;     // per trial, or one run
constexpr double kMostSeconds = 1.0;  // per measurement: fewer trials of slow work
constexpr int64_t kBytes = int64_t{1} << 26;  // 64 MiB: larger than the caches
constexpr int64_t kFloats = kBytes / 4;

struct Variant {
    const char* name;
    Matmul matmul;
};

constexpr std::array<Variant, 4> kVariants = {{
    {"naive", cpu::matmul_naive},
    {"reordered", cpu::matmul_reordered},
    {"blocked", cpu::matmul_blocked},
    {"Eigen", [](float* out, const float* a, const float* b, int64_t M, int64_t N,
                 int64_t K) { cpu::matmul(out, a, b, M, N, K); }},
}};

// Returns the seconds of one run of work.
double quickest(const std::function<void()>& work) {
    double best = seconds_each(kSeconds, work);
    double spent = std::max(best, kSeconds);
    for (int trial = 1; trial < kTrials && spent < kMostSeconds; ++trial) {
        const double seconds = seconds_each(kSeconds, work);
        spent += std::max(seconds, kSeconds);
        best = std::min(best, seconds);
    }
    return best;
}

std::vector<float> numbers(int64_t n) {
    std::vector<float> values(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
        values[static_cast<size_t>(i)] = static_cast<float>(i % 7) - 3;
    return values;
}

void print_limits() {
    double peak = 0, copy = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        peak = std::max(peak, peak_flops(1, kSeconds));
        copy = std::max(
            copy, 2.0 * static_cast<double>(kBytes) / copy_seconds(kBytes, kSeconds));
    }
    std::cout << fmt::format("fused multiply-adds  {:8.2f} GFLOP/s\n", peak / 1e9)
              << fmt::format("copy of 64 MiB       {:8.2f} GB/s, read and written\n",
                             copy / 1e9);
}

// Returns the GFLOP/s of a variant with N x N matrices.
double speed(const Variant& variant, int64_t N) {
    const std::vector<float> a = numbers(N * N), b = numbers(N * N);
    std::vector<float> out(a.size());
    const auto multiply = [&] {
        variant.matmul(out.data(), a.data(), b.data(), N, N, N);
    };
    multiply();
    const auto n = static_cast<double>(N);
    return 2 * n * n * n / quickest(multiply) / 1e9;
}

void print_variants() {
    std::cout << "\n   N";
    for (const Variant& variant : kVariants)
        std::cout << fmt::format(" {:>11}", variant.name);
    std::cout << "   in GFLOP/s\n";
    for (const int64_t N : {16, 32, 64, 128, 256, 512, 1024}) {
        std::cout << fmt::format("{:4}", N);
        for (const Variant& variant : kVariants)
            std::cout << fmt::format(" {:11.2f}", speed(variant, N)) << std::flush;
        std::cout << "\n";
    }
}

void print_kernel(const char* name, double flops, double bytes,
                  const std::function<void()>& kernel) {
    kernel();
    const double seconds = quickest(kernel);
    std::cout << fmt::format("{:<20} {:9.3f} {:9.2f}\n", name, flops / bytes,
                             flops / seconds / 1e9);
}

// Kernels that compute little with each number: memory limits them.
void print_kernels() {
    const std::vector<float> x = numbers(kFloats), y = numbers(kFloats);
    std::vector<float> out(x.size());
    const auto n = static_cast<double>(kFloats);
    std::cout << "\nkernel               FLOP/byte   GFLOP/s\n";
    const std::array<int64_t, 1> shape{kFloats}, strides{1};
    print_kernel("x + y", n, 12 * n, [&] {
        cpu::binary(kernels::BinaryOp::kAdd, out.data(), x.data(), y.data(), shape,
                    strides, strides);
    });
    print_kernel("sum", n, 4 * n, [&] { cpu::sum(out.data(), x.data(), 1, kFloats, 1); });
    constexpr int64_t kSide = 4096;
    print_kernel("matrix times vector", 2 * n, 4 * n,
                 [&] { cpu::matmul(out.data(), x.data(), y.data(), kSide, 1, kSide); });
    static_assert(kSide * kSide == kFloats);
}

}  // namespace

int main() {
    print_limits();
    print_variants();
    print_kernels();
    return 0;
}
