// The checks of lab 06, third part: products with tiles in shared memory and registers.

#include <cstdint>
#include <vector>

#include "labs/06-cuda-kernels/test_product.hpp"
#include "labs/06-cuda-kernels/test_support.hpp"
#include "tests/support/catch.hpp"

using namespace mini::labs;

TEST_CASE("a block multiplies tile by tile", "[lab06][lab06.4]") {
    INFO("tiles of 32 x 32 in shared memory; hint 1 of 06.4");
    product("matmul_tiled", matmul_tiled, {32, 32, 64});
    product("matmul_tiled", matmul_tiled, {1, 1, 1});
    product("matmul_tiled", matmul_tiled, {33, 31, 40});
    product("matmul_tiled", matmul_tiled, {5, 40, 33});
}

TEST_CASE("tiles of factors that are stored transposed", "[lab06][lab06.4]") {
    INFO("tile_element gives the threads adjacent elements of the storage; hint 2");
    product("matmul_tiled", matmul_tiled, {20, 33, 40}, {.transpose_a = true});
    product("matmul_tiled", matmul_tiled, {20, 33, 40}, {.transpose_b = true});
    product("matmul_tiled", matmul_tiled, {20, 33, 40}, {.accumulate = true});
}

TEST_CASE("a block loads each float of its tiles once", "[lab06][lab06.4]") {
    const MatmulOptions options =
        GENERATE(MatmulOptions{}, MatmulOptions{.transpose_a = true},
                 MatmulOptions{.transpose_b = true},
                 MatmulOptions{.transpose_a = true, .transpose_b = true});
    const Seen seen = product("matmul_tiled", matmul_tiled, {64, 32, 64}, options);
    INFO("(64, 64) times (64, 32)"
         << (options.transpose_a ? ", a stored transposed" : "")
         << (options.transpose_b ? ", b stored transposed" : "")
         << ": 2 blocks, 2 steps, 2 tiles of 1024 floats in 128 sectors; hint 2 of 06.4");
    check_sectors(seen.first());
    CHECK(seen.first().global_loads.cost == 2 * 2 * 2 * 128);
    check_banks(seen.first());
    INFO("2 blocks, 2 steps, and at most two barriers in a step");
    CHECK(seen.first().barriers <= 2 * 2 * 2);
}

TEST_CASE("a thread multiplies 4 x 4 elements", "[lab06][lab06.5]") {
    INFO("tiles of 64 x 16 and 16 x 64; hint 1 of 06.5");
    product("matmul_registers", matmul_registers, {64, 64, 32});
    product("matmul_registers", matmul_registers, {1, 1, 1});
    product("matmul_registers", matmul_registers, {65, 63, 17});
    product("matmul_registers", matmul_registers, {5, 70, 33});
}

TEST_CASE("register tiles of factors that are stored transposed", "[lab06][lab06.5]") {
    INFO("tile_element gives the threads adjacent elements of the storage; hint 2");
    product("matmul_registers", matmul_registers, {20, 65, 20}, {.transpose_a = true});
    product("matmul_registers", matmul_registers, {20, 65, 20}, {.transpose_b = true});
    product("matmul_registers", matmul_registers, {20, 65, 20}, {.accumulate = true});
}

TEST_CASE("a thread reads 2 float4 for 16 products", "[lab06][lab06.5]") {
    const Seen seen = product("matmul_registers", matmul_registers, {64, 64, 32});
    INFO("(64, 32) times (32, 64): one block of 8 warps, 2 steps of 16; hint 2 of 06.5");
    check_sectors(seen.first());
    CHECK(seen.first().global_loads.cost == 2 * 2 * 1024 / 8);
    INFO(
        "for each k a warp loads a float4 of a and one of b; 8 single floats are 4 "
        "times");
    INFO("as many loads");
    CHECK(seen.first().shared_loads.instructions <= 8 * 32 * 2);
    CHECK(seen.first().barriers <= 2 * 2);
}

TEST_CASE("the products of register tiles have no bank conflicts", "[lab06][lab06.5]") {
    const Seen seen = product("matmul_registers", matmul_registers, {64, 64, 32},
                              {.transpose_a = true});
    INFO("a stored transposed, so that both tiles are copied row by row");
    check_banks(seen.first());
}
