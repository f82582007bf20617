// Blocks of simulated threads: barriers, warps, shared memory, and threads that wait
// forever. The kernels here are lambdas that use CUDA's device functions.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/language.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini::sim {
namespace {

using test::contains;

constexpr unsigned kAllLanes = 0xffffffffu;

std::string run(dim3 grid, dim3 block, std::function<void()> body, size_t shared = 0) {
    return run_grid(
        {.grid = grid, .block = block, .shared_bytes = shared, .body = std::move(body)});
}

TEST_CASE("every thread of a grid runs once with its own coordinates") {
    const dim3 grid(3, 2, 2), block(5, 3, 2);
    std::vector<std::atomic<int>> seen(3 * 2 * 2 * 5 * 3 * 2);
    CHECK(run(grid, block, [&] {
              const unsigned b =
                  (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
              const unsigned t =
                  (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
              seen[b * blockDim.x * blockDim.y * blockDim.z + t]++;
          }) == "");
    for (const auto& each : seen) CHECK(each == 1);
}

TEST_CASE("no thread passes a barrier before all threads have arrived") {
    const unsigned threads = GENERATE(1u, 31u, 32u, 33u, 256u, 1024u);
    CAPTURE(threads);
    std::vector<int> arrived(threads), wrong(threads);
    CHECK(run(1, threads, [&] {
              const unsigned i = threadIdx.x;
              for (int step = 1; step <= 3; ++step) {
                  arrived[i] = step;
                  __syncthreads();
                  wrong[i] += arrived[(i + 1) % threads] != step;
                  __syncthreads();
              }
          }) == "");
    CHECK(std::accumulate(wrong.begin(), wrong.end(), 0) == 0);
}

TEST_CASE("barriers do not wait for exited threads") {
    std::vector<int> done(96);
    CHECK(run(1, 96, [&] {
              if (threadIdx.x % 3 == 0) return;
              __syncthreads();
              __syncwarp();
              done[threadIdx.x] = 1;
          }) == "");
    CHECK(std::accumulate(done.begin(), done.end(), 0) == 64);
}

TEST_CASE("each shuffle reads the lane that CUDA specifies") {
    std::vector<int> up(32), down(32), idx(32), narrow(32), sums(32);
    CHECK(run(1, 32, [&] {
              const auto i = static_cast<int>(threadIdx.x);
              up[i] = __shfl_up_sync(kAllLanes, i, 3);
              down[i] = __shfl_down_sync(kAllLanes, i, 3);
              idx[i] = __shfl_sync(kAllLanes, i, 7);
              narrow[i] = __shfl_sync(kAllLanes, i, 1, 8);
              sums[i] = i;
              for (int step = 16; step > 0; step /= 2)
                  sums[i] += __shfl_xor_sync(kAllLanes, sums[i], step);
          }) == "");
    for (int i = 0; i < 32; ++i) {
        CHECK(up[i] == (i < 3 ? i : i - 3));
        CHECK(down[i] == (i + 3 > 31 ? i : i + 3));
        CHECK(idx[i] == 7);
        CHECK(narrow[i] == i / 8 * 8 + 1);
        CHECK(sums[i] == 31 * 16);
    }
}

TEST_CASE("two halves of a warp can shuffle independently") {
    std::vector<int> got(32);
    CHECK(run(1, 32, [&] {
              const auto i = static_cast<int>(threadIdx.x);
              const unsigned mask = i < 16 ? 0x0000ffffu : 0xffff0000u;
              const int rounds = i < 16 ? 5 : 2;  // one half shuffles more often
              int value = i;
              for (int k = 0; k < rounds; ++k)
                  value = __shfl_sync(mask, value, i < 16 ? 3 : 20);
              got[i] = value;
          }) == "");
    for (int i = 0; i < 32; ++i) CHECK(got[i] == (i < 16 ? 3 : 20));
}

TEST_CASE("votes count only the existing lanes of an incomplete warp") {
    const unsigned threads = GENERATE(5u, 32u, 40u);
    std::vector<unsigned> ballots(threads);
    std::vector<int> any(threads), all(threads);
    CHECK(run(1, threads, [&] {
              const unsigned i = threadIdx.x;
              ballots[i] = __ballot_sync(kAllLanes, i % 2 == 0);
              any[i] = __any_sync(kAllLanes, i == 1);
              all[i] = __all_sync(kAllLanes, i < threads);
          }) == "");
    for (unsigned i = 0; i < threads; ++i) {
        CAPTURE(threads, i);
        const unsigned lanes = std::min(32u, threads - i / 32 * 32);
        CHECK(ballots[i] == (0x55555555u & (lanes == 32 ? ~0u : (1u << lanes) - 1)));
        CHECK(any[i] == (i < 32));
        CHECK(all[i] == 1);
    }
}

TEST_CASE("a shuffle from a lane outside the mask returns NaN") {
    std::vector<float> got(32);
    CHECK(run(1, 32, [&] {
              const unsigned i = threadIdx.x;
              if (i < 16)
                  got[i] = __shfl_sync(0x0000ffffu, 1.0f, static_cast<int>(i + 8));
          }) == "");
    for (int i = 0; i < 16; ++i) CHECK(std::isnan(got[i]) == (i >= 8));
}

TEST_CASE("each block has its own shared memory") {
    set_num_threads(GENERATE(1, 3));
    std::vector<int> sums(64);
    CHECK(run(
              64, 64,
              [&] {
                  __shared__ int fixed[64];
                  int* const dynamic = reinterpret_cast<int*>(dynamic_shared());
                  const unsigned i = threadIdx.x;
                  fixed[i] = static_cast<int>(blockIdx.x);
                  dynamic[i] = static_cast<int>(i);
                  __syncthreads();
                  if (i != 0) return;
                  for (int k = 0; k < 64; ++k) sums[blockIdx.x] += fixed[k] + dynamic[k];
              },
              64 * sizeof(int)) == "");
    set_num_threads(1);
    for (int b = 0; b < 64; ++b) CHECK(sums[b] == 64 * b + 63 * 32);
}

constexpr int kBlocks = 5, kThreads = 50, kAll = kBlocks * kThreads;

TEMPLATE_TEST_CASE("atomicCAS writes only where it finds the expected value", "", int,
                   unsigned, unsigned long long) {
    TestType total = 0;
    CHECK(run(kBlocks, kThreads, [&] {  // adds the thread's index, as atomicAdd does
              const auto mine =
                  static_cast<TestType>(blockIdx.x * blockDim.x + threadIdx.x);
              TestType seen = 0, expected;
              do {
                  expected = seen;
                  seen =
                      atomicCAS(&total, expected, static_cast<TestType>(expected + mine));
              } while (seen != expected);
          }) == "");
    CHECK(total == kAll * (kAll - 1) / 2);
}

TEMPLATE_TEST_CASE("atomicExch returns each value to exactly one thread", "", int,
                   unsigned, unsigned long long, float) {
    std::vector<TestType> found(kAll), expected(kAll + 1);
    TestType last = kAll;
    CHECK(run(kBlocks, kThreads, [&] {
              const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
              found[i] = atomicExch(&last, static_cast<TestType>(i));
          }) == "");
    found.push_back(last);
    std::sort(found.begin(), found.end());
    std::iota(expected.begin(), expected.end(), TestType{0});
    CHECK(found == expected);
}

TEST_CASE("threads that wait at different barriers end the launch with an error") {
    const std::string error = run(dim3(1, 2), 64, [] {
        if (threadIdx.x == 5) {
            __shfl_sync(kAllLanes, 1, 0);
        } else {
            __syncthreads();
        }
    });
    CHECK(contains(error, "block (0, 0, 0)"));
    CHECK(contains(error, "63 threads, the first is thread 0, at __syncthreads()"));
    CHECK(contains(error, "1 threads, the first is thread 5, in a warp operation"));
    CHECK(contains(error, "0xffffffff"));
}

TEST_CASE("a launch succeeds after an earlier launch was stuck") {
    CHECK(run(1, 32, [] {
              if (threadIdx.x == 0) __syncwarp(1u << 1);  // a mask without lane 0
              __syncthreads();
          }) != "");
    std::vector<int> done(32);
    CHECK(run(1, 32, [&] {
              __syncthreads();
              done[threadIdx.x] = 1;
          }) == "");
    CHECK(std::accumulate(done.begin(), done.end(), 0) == 32);
}

TEST_CASE("an exception in a kernel becomes the launch's error") {
    const std::string error = run(2, 3, [] {
        if (threadIdx.x == 1) throw std::runtime_error("no such thing");
    });
    CHECK(contains(error, "no such thing"));
}

TEST_CASE("several host threads run grids concurrently") {
    std::vector<int> sums(4);
    std::vector<std::thread> hosts;
    for (int host = 0; host < 4; ++host)
        hosts.emplace_back([&sums, host] {
            run(3, 64, [&sums, host] {
                const unsigned votes = __ballot_sync(kAllLanes, true);
                __syncthreads();
                if (threadIdx.x == 0) sums[host] += std::popcount(votes);
            });
        });
    for (std::thread& each : hosts) each.join();
    CHECK(sums == std::vector<int>(4, 96));
}

}  // namespace
}  // namespace mini::sim
