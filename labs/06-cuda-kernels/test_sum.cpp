// The checks of lab 06, second part: the sum of an array.

#include <cstdint>
#include <numeric>
#include <vector>

#include "labs/06-cuda-kernels/kernels.hpp"
#include "labs/06-cuda-kernels/test_support.hpp"
#include "tests/support/catch.hpp"

using namespace mini::labs;
using mini::kernels::small_integers;

namespace {

using Sum = void (*)(float*, const float*, int64_t);

// Sums n integers, and checks result and mistakes.
Seen check_sum(const char* name, Sum sum, int64_t n) {
    const Values x = small_integers(n);
    const OnDevice on_device(x), out = unwritten_on_device(1);
    const Seen seen = watch([&] { sum(out, on_device, n); });
    INFO(name << " of " << n << " elements, in blocks of 256 threads");
    check_no_mistake(seen);
    INFO("the elements are integers, so each order of additions gives the same sum");
    REQUIRE(out.read()[0] == std::accumulate(x.begin(), x.end(), 0.0f));
    return seen;
}

}  // namespace

TEST_CASE("the tree adds the halves of a block", "[lab06][lab06.3]") {
    INFO("region in sequential_tree; hint 1 of 06.3");
    for (const int64_t n : {256, 257, 1000, 255, 33, 31, 2, 1, 0})
        check_sum("sum_sequential", sum_sequential, n);
}

TEST_CASE("whole warps of the tree have no work, and no bank has two words",
          "[lab06][lab06.3]") {
    const Seen seen = check_sum("sum_sequential", sum_sequential, 256);
    INFO("one block of 8 warps, sum_sequential; hint 2 of 06.3");
    check_banks(seen.first());
    check_sectors(seen.first());
    INFO(
        "128 threads add in step 1, then 64, 32, ..., 1: 4 + 2 + 6 warps load two words");
    INFO("each, and thread 0 reads the sum. If every warp has a thread that adds, as in");
    INFO("divergent_kernel, then all 8 warps load in 3 steps more");
    CHECK(seen.first().shared_loads.instructions <= 2 * (4 + 2 + 6) + 1);
    CHECK(seen.first().atomics == 0);
}

TEST_CASE("a thread adds 8 elements first, and adjacent threads adjacent ones",
          "[lab06][lab06.3]") {
    INFO("region in first_add, then the tree; hint 1 of 06.3");
    for (const int64_t n : {2048, 2049, 1000, 257, 255, 33, 31, 1, 0})
        check_sum("sum_first_add", sum_first_add, n);
    const Seen seen = check_sum("sum_first_add", sum_first_add, 2048);
    INFO("2048 elements: one block, each of whose 8 warps loads 8 times 4 sectors");
    REQUIRE(seen.launches.size() == 1);
    CHECK(seen.first().global_loads.instructions == 8 * 8);
    check_sectors(seen.first());
}

TEST_CASE("warps sum by shuffles, and the block by one more warp", "[lab06][lab06.3]") {
    INFO("regions in first_add, warp_sum and block_sum; hint 2 of 06.3");
    INFO("the block's last thread writes the sum: all threads must have it");
    for (const int64_t n : {2048, 5000, 2049, 1000, 257, 255, 33, 31, 1, 0})
        check_sum("sum_shuffle", sum_shuffle, n);
}

TEST_CASE("shuffles replace shared memory and barriers", "[lab06][lab06.3]") {
    const Seen seen = check_sum("sum_shuffle", sum_shuffle, 2048);
    INFO(
        "one block of 8 warps: a warp stores its sum, and loads the 8 sums at most once");
    CHECK(seen.first().shared_stores.instructions <= 8);
    CHECK(seen.first().shared_loads.instructions <= 8);
    CHECK(seen.first().barriers <= 1);
    CHECK(seen.first().atomics == 0);
    check_banks(seen.first());
}

TEST_CASE("each block adds its sum to out", "[lab06][lab06.3]") {
    for (const int64_t n : {5000, 2048, 2049, 33, 1, 0})
        check_sum("sum_atomic", sum_atomic, n);
    const Seen seen = check_sum("sum_atomic", sum_atomic, 5000);
    INFO("5000 elements: 3 blocks, one launch, one atomicAdd of one lane in each block");
    REQUIRE(seen.launches.size() == 1);
    CHECK(seen.first().grid.x == 3);
    CHECK(seen.first().atomics == 3);
}

TEST_CASE("the order of the additions depends only on the size", "[lab06][lab06.3]") {
    const int64_t n = 5000;
    const OnDevice x(mini::kernels::normal_numbers(n));
    const OnDevice out = unwritten_on_device(1);
    const Sum sum = GENERATE(values<Sum>({sum_sequential, sum_first_add, sum_shuffle}));
    std::vector<float> sums;
    watch([&] {
        sum(out, x, n);
        sums.push_back(out.read()[0]);
    });
    INFO("blocks run in another order in the second run; with atomicAdd the last digits");
    INFO("would change; the sums: " << sums.front() << " and " << sums.back());
    CHECK(mini::kernels::bits(sums)[0] == mini::kernels::bits(sums).back());
}
