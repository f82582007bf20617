// Compiled with -ffp-contract=fast, so that a * b + c is one instruction.

#include "labs/measure/machine_limits.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "labs/measure/timing.hpp"

// Hides a value from the compiler, which could otherwise compute the loop in advance.
#if defined(__x86_64__)
#define MINI_HIDE(v) asm volatile("" : "+x"(v))
#elif defined(__aarch64__)
#define MINI_HIDE(v) asm volatile("" : "+w"(v))
#else
#define MINI_HIDE(v) asm volatile("" : : "r"(&v) : "memory")
#endif

namespace mini {
namespace {

// The widest vector that one register of the target holds.
#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
using Vector [[gnu::vector_size(4 * kLanes)]] = float;

// Independent sums, as many as hide the latency of two multiply-adds per cycle.
constexpr int kSums = 12;
constexpr int kRounds = 20'000;
constexpr double kFlops = 2.0 * kLanes * kSums * kRounds;

void multiply_and_add() {
    std::array<Vector, kSums> sums{};
    Vector factor = Vector{} + 0.999f, term = Vector{} + 0.001f;
    MINI_HIDE(factor);
    MINI_HIDE(term);
    for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
        for (int i = 0; i < kSums; ++i) {
            sums[i] = sums[i] * factor + term;
            MINI_HIDE(sums[i]);
        }
    }
}

}  // namespace

double peak_flops(int threads, double seconds) {
    std::barrier all_started(threads);
    std::vector<double> rates(static_cast<size_t>(threads));
    std::vector<std::jthread> running;
    for (double& rate : rates)
        running.emplace_back([&all_started, &rate, seconds] {
            multiply_and_add();
            all_started.arrive_and_wait();
            rate = kFlops / seconds_each(seconds, multiply_and_add);
        });
    running.clear();  // joins the threads
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum;
}

double copy_seconds(int64_t bytes, double seconds) {
    // Aligned, as tensors are: on some processors an unaligned memcpy takes ten times as
    // long for some sizes.
    struct alignas(64) Line {
        std::array<char, 64> bytes;
    };
    const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    const std::vector<Line> source(size / sizeof(Line) + 1);
    std::vector<Line> target(source.size());
    const auto copy = [&] {
        std::memcpy(target.data(), source.data(), size);
        asm volatile("" : : "r"(target.data()) : "memory");  // the copy is needed
    };
    copy();
    return seconds_each(seconds, copy);
}

}  // namespace mini
