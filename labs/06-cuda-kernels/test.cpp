// The checks of lab 06, first part: a kernel per element, and a product whose warps read
// adjacent floats.

#include <cstdint>
#include <vector>

#include "labs/06-cuda-kernels/kernels.hpp"
#include "labs/06-cuda-kernels/test_product.hpp"
#include "labs/06-cuda-kernels/test_support.hpp"
#include "tests/support/catch.hpp"

using namespace mini::labs;
using mini::kernels::small_integers;

namespace {

const std::vector<int64_t> kSizes{1, 31, 33, 256, 257, 1000};

// Numbers of both signs, a NaN, and -0.
Values inputs(int64_t n) {
    Values x = small_integers(n);
    if (n > 30) x[30] = mini::kernels::kNaN;
    if (n > 7) x[7] = -0.0f;
    return x;
}

Values relu_of(const Values& x) {
    Values y = x;
    for (float& value : y) value = value < 0.0f ? 0.0f : value;
    return y;
}

}  // namespace

TEST_CASE("each element is computed by its thread", "[lab06][lab06.1]") {
    for (const int64_t n : kSizes) {
        const Values x = inputs(n);
        const OnDevice on_device(x), out = unwritten_on_device(n);
        const Seen seen = watch([&] { relu_each(out, on_device, n, nullptr); });
        INFO("relu_each of n = " << n << " elements, in blocks of 256 threads: "
                                 << plural((n + 255) / 256, "block")
                                 << "; hint 1 of 06.1");
        check_no_mistake(seen);
        REQUIRE(compared(out.read(), relu_of(x)) == "all elements are right");
        INFO("thread t computes element t, so a warp begins at a multiple of 32 floats");
        check_sectors(seen.first());
    }
}

TEST_CASE("relu_each runs in the stream that it is given", "[lab06][lab06.1]") {
    const int64_t n = 300;
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    const OnDevice x(inputs(n)), out = unwritten_on_device(n);
    const Seen seen = watch([&] {
        cudaMemsetAsync(x, 0, n * sizeof(float), stream);
        relu_each(out, x, n, stream);
    });
    cudaStreamDestroy(stream);
    INFO("a stream sets x to 0, and then relu_each is called with this stream; hint 3");
    check_no_mistake(seen);
    REQUIRE(compared(out.read(), Values(n, 0.0f)) == "all elements are right");
}

TEST_CASE("the grid has as many blocks as are needed", "[lab06][lab06.1]") {
    for (const int64_t n : {1, 255, 256, 257, 512, 1000}) {
        const OnDevice x(inputs(n)), out = unwritten_on_device(n);
        const Seen seen = watch([&] { relu_each(out, x, n, nullptr); });
        INFO("n = " << n << ", blocks of 256 threads; hint 2 of 06.1");
        check_no_mistake(seen);
        REQUIRE(seen.launches.size() == 1);
        CHECK(seen.first().block.x == 256);
        CHECK(seen.first().grid.x == (n + 255) / 256);
    }
    INFO("no element, no launch: a grid of 0 blocks is an error");
    const OnDevice one(Values{1});
    const Seen seen = watch([&] { relu_each(one, one, 0, nullptr); });
    check_no_mistake(seen);
    CHECK(seen.launches.empty());
}

TEST_CASE("relu_runs computes 8 adjacent elements in each thread", "[lab06][lab06.1]") {
    for (const int64_t n : {0, 1, 7, 31, 33, 257, 2047, 2048, 2049}) {
        const Values x = inputs(n);
        const OnDevice on_device(x), out = unwritten_on_device(n);
        const Seen seen = watch([&] { relu_runs(out, on_device, n, nullptr); });
        INFO("relu_runs of n = " << n << " elements, a block for each 2048; hint 1");
        check_no_mistake(seen);
        REQUIRE(compared(out.read(), relu_of(x)) == "all elements are right");
        REQUIRE(seen.launches.size() == (n == 0 ? 0 : 1));
        if (n == 0) continue;
        CHECK(seen.first().grid.x == (n + 2047) / 2048);
        INFO("bytes stored, 4 per element");
        CHECK(seen.first().global_stores.used == static_cast<size_t>(4 * n));
        INFO(
            "sectors loaded by 8 full warps, in each of whose 8 loads 32 threads read "
            "from");
        INFO("32 sectors");
        if (n == 2048) CHECK(seen.first().global_loads.cost == 8 * 8 * 32);
    }
}

TEST_CASE("adjacent threads read adjacent elements", "[lab06][lab06.1]") {
    const int64_t n = 1024;
    const OnDevice x(inputs(n)), out = unwritten_on_device(n);
    const Seen each = watch([&] { relu_each(out, x, n, nullptr); });
    check_no_mistake(each);
    {
        INFO("relu_each of 1024 elements: 32 warps, each of which needs 4 sectors");
        CHECK(each.first().global_loads.instructions == 32);
        check_sectors(each.first());
    }

    const Seen stride = watch([&] { relu_grid_stride(out, x, n, 2, nullptr); });
    check_no_mistake(stride);
    INFO("relu_grid_stride by 2 blocks: 16 warps, each of which loads twice");
    CHECK(stride.first().global_loads.instructions == 32);
    check_sectors(stride.first());
}

TEST_CASE("a grid of any size computes all elements, each once", "[lab06][lab06.1]") {
    for (const unsigned grid : {1u, 3u})
        for (const int64_t n : kSizes) {
            const Values x = inputs(n);
            const OnDevice on_device(x), out = unwritten_on_device(n);
            const Seen seen =
                watch([&] { relu_grid_stride(out, on_device, n, grid, nullptr); });
            INFO("relu_grid_stride of " << n << " elements by " << plural(grid, "block")
                                        << " of 256 threads; hint 1 of 06.1");
            check_no_mistake(seen);
            REQUIRE(compared(out.read(), relu_of(x)) == "all elements are right");
            {
                INFO("bytes stored, 4 per element");
                REQUIRE(seen.first().global_stores.used == static_cast<size_t>(4 * n));
            }
            INFO("thread t computes elements t, t + T, t + 2 T, ..., T the number of");
            INFO("threads, so a warp begins at a multiple of 32 floats");
            check_sectors(seen.first());
        }
}

TEST_CASE("a thread computes an element of the product", "[lab06][lab06.2]") {
    INFO("hint 1 of 06.2");
    for (const Extents sizes : {Extents{1, 1, 1}, {9, 33, 5}, {33, 7, 31}, {16, 64, 8}}) {
        product("matmul_naive", matmul_naive, sizes);
        product("matmul_coalesced", matmul_coalesced, sizes);
    }
}

TEST_CASE("factors may be stored transposed, and out may be added to",
          "[lab06][lab06.2]") {
    INFO("row_step and col_step of a matrix say how far apart neighbours are; hint 2");
    for (const MatmulOptions options : {MatmulOptions{.transpose_a = true},
                                        {.transpose_b = true},
                                        {.accumulate = true}}) {
        product("matmul_naive", matmul_naive, {9, 33, 5}, options);
        product("matmul_coalesced", matmul_coalesced, {9, 33, 5}, options);
    }
}

TEST_CASE("a warp of the coalesced kernel reads a row of b", "[lab06][lab06.2]") {
    const Seen seen = product("matmul_coalesced", matmul_coalesced, {32, 32, 32});
    INFO(
        "32 x 32 x 32: for each k a warp needs 1 sector of a, which all its threads "
        "use,");
    INFO("and 4 sectors of b; in all 32 warps times 32 times 5; hint 2 of 06.2");
    check_sectors(seen.first());
    CHECK(seen.first().global_loads.cost == 32 * 32 * 5);
    CHECK(seen.first().global_stores.cost == 32 * 4);
}
