#include <cstddef>
#include <cstdint>
#include <string>

#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/checker.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"
#include "tests/extras/cudasim/patterns.hpp"
#include "tests/support/catch.hpp"

namespace mini::sim {
namespace {

using Catch::Matchers::ContainsSubstring;
using mini::bugs::Floats;

// Returns the counters of the last launch.
LaunchCounters last(Counting& counting) {
    REQUIRE_FALSE(counting.log().launches().empty());
    return counting.log().launches().back();
}

TEST_CASE("the sectors that a copy loads depend on the stride of its lanes") {
    struct Expected {
        int stride, count;
        size_t instructions, sectors;
        double efficiency;
    };
    const auto expected = GENERATE(values<Expected>({
        {1, 128, 4, 128 * 4 / 32, 1.0},  // one instruction for each warp
        {2, 64, 2, 16, 0.5},
        {32, 64, 2, 64, 0.125},  // a sector for each float
        {0, 32, 1, 1, 0.125},    // all lanes load one address, 4 bytes
        {1, 40, 2, 5, 1.0},      // the second warp has inactive lanes
    }));
    CAPTURE(expected.stride, expected.count);
    const Floats x(32 * 64), out(128);
    Counting counting;
    patterns::strided_copy(out.get(), x.get(), expected.stride, expected.count);
    const LaunchCounters counters = last(counting);
    CHECK(counters.kernel == "strided_copy_kernel");
    CHECK(counters.global_loads.instructions == expected.instructions);
    CHECK(counters.global_loads.cost == expected.sectors);
    CHECK(counters.global_loads.efficiency() == expected.efficiency);
    CHECK(counters.global_stores.efficiency() == 1.0);
}

TEST_CASE("a thread loads or stores a float4 with one access") {
    const Floats x(128), out(128);
    Counting counting;
    patterns::vector_copy(out.get(), x.get(), 32);
    CHECK(last(counting).global_loads.instructions == 1);
    CHECK(last(counting).global_loads.efficiency() == 1.0);
    CHECK(last(counting).global_stores.instructions == 1);
}

TEST_CASE(
    "a column of a 32 x 32 tile has 32-way bank conflicts unless the rows are padded") {
    const Floats x(32 * 32), out(32 * 32);
    Counting counting;
    patterns::transpose_tile(out.get(), x.get(), false);
    const Traffic conflicts = last(counting).shared_loads;
    CHECK(conflicts.instructions == 32);
    CHECK(conflicts.cost == 32 * 32);
    CHECK(conflicts.least == 32);
    CHECK(last(counting).shared_stores.cost == last(counting).shared_stores.least);

    patterns::transpose_tile(out.get(), x.get(), true);
    CHECK(last(counting).shared_loads.cost == last(counting).shared_loads.least);
}

TEST_CASE("the sums of batch norm use nearly every byte fetched") {
    const int64_t space = GENERATE(8, 16, 64);
    CAPTURE(space);
    const kernels::ChannelExtents at{.N = 128, .C = 64, .space = space};
    const Floats x(at.N * at.C * space), mean(at.C), variance(at.C);
    Counting counting;
    kernels::cuda::channel_moments(mean.get(), variance.get(), x.get(), at, nullptr);
    // Below 1, because each channel's first number is also read separately.
    CHECK(last(counting).global_loads.efficiency() > 0.9);
}

TEST_CASE("barriers are counted per block and atomics per thread") {
    const Floats total(1);
    Counting counting;
    patterns::count_threads(reinterpret_cast<int*>(total.get()), 3, 50);
    CHECK(last(counting).barriers == 6);
    CHECK(last(counting).atomics == 150);
}

// Returns the text of the loads or stores of one kind of memory, of a launch with one
// source line of this kind.
std::string line_text(const LaunchCounters& launch, Mode mode, bool shared) {
    std::string text;
    for (const LineTraffic& line : traffic_by_line(launch))
        if (line.mode == mode && line.shared == shared) text += describe(line);
    return text;
}

TEST_CASE("a line that wastes sectors is told, with the threads of the worst access") {
    const Floats x(32 * 64), out(64);
    Counting counting;
    patterns::strided_copy(out.get(), x.get(), 2, 64);
    const std::string loads = line_text(last(counting), Mode::kRead, false);
    CHECK_THAT(loads,
               ContainsSubstring("patterns.cu:") &&
                   ContainsSubstring("loads, global memory: 16 sectors of 32 bytes; "
                                     "8 would hold the data\n"
                                     "    worst: block 0, threads 0 to 31: 8 sectors "
                                     "of 32 bytes; 4 would hold the data\n"
                                     "    thread 0 at byte 0, thread 1 at byte 8, "
                                     "thread 2 at byte 16, thread 3 at byte 24, ..."));
    CHECK(line_text(last(counting), Mode::kWrite, false)
              .ends_with("stores, global memory: 8 sectors of 32 bytes"));
}

TEST_CASE("a line with bank conflicts is told, with threads of one bank") {
    const Floats x(32 * 32), out(32 * 32);
    Counting counting;
    patterns::transpose_tile(out.get(), x.get(), false);
    const std::string loads = line_text(last(counting), Mode::kRead, true);
    CHECK_THAT(loads, ContainsSubstring(
                          "1024 passes over the banks; 32 would do without conflicts\n"
                          "    worst: block 0, threads 0 to 31: 32 passes"));
    CHECK(
        loads.ends_with("one bank: thread 0 word 0, thread 1 word 32, thread 2 word 64, "
                        "thread 3 word 96, ..."));
    patterns::transpose_tile(out.get(), x.get(), true);
    CHECK(line_text(last(counting), Mode::kRead, true)
              .ends_with("loads, shared memory: 32 passes over the banks"));
}

}  // namespace
}  // namespace mini::sim
