// What the checks of lab 06 leave out: the kernels that are given, and the counts that the
// lab's page shows.

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "labs/06-cuda-kernels/kernels.hpp"
#include "labs/06-cuda-kernels/test_product.hpp"
#include "labs/06-cuda-kernels/test_support.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::labs {
namespace {

TEST_CASE("the given sums add integers exactly") {
    const int64_t n = GENERATE(0, 1, 31, 33, 255, 256, 257, 2048, 2049, 20000);
    CAPTURE(n);
    const Values x = kernels::small_integers(n);
    const OnDevice on_device(x);
    for (const auto sum : {sum_divergent, sum_interleaved}) {
        const OnDevice out = unwritten_on_device(1);
        check_no_mistake(watch([&] { sum(out, on_device, n); }));
        CHECK(out.read() == Values{std::accumulate(x.begin(), x.end(), 0.0f)});
    }
}

TEST_CASE("the sums need less from kernel to kernel") {
    const OnDevice x(Values(4096, 1.0f)), out = unwritten_on_device(1);
    struct Expected {
        void (*sum)(float*, const float*, int64_t);
        size_t blocks, passes, least, barriers;
    };
    for (const Expected& each : {Expected{sum_divergent, 16, 2400, 2400, 144},
                                 {sum_interleaved, 16, 2400, 720, 144},
                                 {sum_sequential, 16, 720, 720, 144},
                                 {sum_first_add, 2, 90, 90, 18},
                                 {sum_shuffle, 2, 32, 32, 2},
                                 {sum_atomic, 2, 32, 32, 2}}) {
        const auto counts = watch([&] { each.sum(out, x, 4096); }).first();
        CAPTURE(counts.kernel);
        CHECK(counts.grid.x == each.blocks);
        CHECK(counts.global_loads.cost == 512);
        CHECK(counts.shared_loads.cost + counts.shared_stores.cost == each.passes);
        CHECK(counts.shared_loads.least + counts.shared_stores.least == each.least);
        CHECK(counts.barriers == each.barriers);
    }
}

// 72 x 72: the edges of tiles are not full. The naive kernel uses one float of each sector
// of 32 bytes; in two of three warps the coalesced one uses 4 + 128 bytes of 5 sectors.
TEST_CASE("the products need less from kernel to kernel") {
    struct Expected {
        const char* name;
        Multiply multiply;
        size_t blocks, loads, sectors, stored, barriers;
    };
    for (const Expected& each :
         {Expected{"naive", matmul_naive, 27, 27 * 8 * 72 * 2, 388'800, 5184, 0},
          {"coalesced", matmul_coalesced, 27, 27 * 8 * 72 * 2, 62'208, 648, 0},
          {"tiled", matmul_tiled, 9, 1296, 3888, 648, 9 * 3 * 2},
          {"registers", matmul_registers, 4, 792, 2592, 648, 4 * 5 * 2}}) {
        const auto counts = product(each.name, each.multiply, {72, 72, 72}).first();
        CAPTURE(counts.kernel);
        CHECK(counts.grid.x == each.blocks);
        CHECK(counts.global_loads.instructions == each.loads);
        CHECK(counts.global_loads.cost == each.sectors);
        CHECK(counts.global_stores.cost == each.stored);
        CHECK(counts.shared_loads.cost == counts.shared_loads.least);
        CHECK(counts.barriers == each.barriers);
    }
}

}  // namespace
}  // namespace mini::labs
