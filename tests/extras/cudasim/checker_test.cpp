#include "libmini/extras/cudasim/checker.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"
#include "tests/extras/cudasim/patterns.hpp"
#include "tests/kernels/cuda/run_self.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

namespace mini::sim {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::Answer;
using test::run_self;

std::vector<Report> reports_of(mini::bugs::Run run) {
    Checker checker;
    run(true);
    return checker.reports();
}

// Hidden tests: the tests below run each of them in its own process.
TEST_CASE("a block that waits", "[.]") { mini::bugs::wait_for_block(true); }
TEST_CASE("a bug that is not looked for", "[.]") { mini::bugs::missing_barrier(true); }
TEST_CASE("a kernel without a bug", "[.]") { mini::bugs::missing_barrier(false); }

TEST_CASE(
    "MINI_SIM_CHECK=1 prints the reports of the whole program and exits with code 1") {
    const Answer checked = run_self("MINI_SIM_CHECK=1", "a bug that is not looked for");
    CHECK(checked.code == 1);
    CHECK_THAT(checked.text,
               ContainsSubstring("race: reverse, block (0, 0, 0), thread ("));
    CHECK_THAT(checked.text, ContainsSubstring("bugs/shared.cu:"));
    CHECK_THAT(checked.text, ContainsSubstring("MINI_SIM_CHECK: 1 mistake"));

    CHECK(run_self("MINI_SIM_CHECK=0", "a bug that is not looked for").code == 0);
    CHECK(run_self("MINI_SIM_CHECK=1", "a kernel without a bug").code == 0);
}

TEST_CASE("a bug that is only noted", "[.]") { mini::bugs::same_value(true); }

TEST_CASE("writes of the same value by several threads are a note, and no mistake") {
    const auto reports = reports_of(mini::bugs::same_value);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].mistake == Mistake::kSameValue);
    const Answer noted = run_self("MINI_SIM_CHECK=1", "a bug that is only noted");
    CHECK(noted.code == 0);
    CHECK_THAT(noted.text,
               ContainsSubstring("note: the same value from several threads: set_flag"));
}

TEST_CASE("a race report names both threads and their lines") {
    const auto reports = reports_of(mini::bugs::neighbour_blocks);
    REQUIRE(reports.size() == 1);
    const Report& race = reports[0];
    CHECK(race.at.kernel == "shift_wrong");
    CHECK(race.other.kernel == "shift_wrong");
    CHECK(race.at.line != race.other.line);
    // The last thread of a block reads what the first thread of the next block writes.
    const bool reads = race.at.thread.x == 31;
    const Place& reader = reads ? race.at : race.other;
    const Place& writer = reads ? race.other : race.at;
    CHECK(reader.thread.x == 31);
    CHECK(writer.thread.x == 0);
    CHECK(writer.block.x == reader.block.x + 1);
    CHECK_THAT(race.message,
               ContainsSubstring(reads ? "another block wrote" : "another block read"));
    CHECK_THAT(race.message, ContainsSubstring("MINI_SIM_BLOCK_SEED=1)"));
}

TEST_CASE("a seed draws the order of the blocks") {
    const auto drawn = order_of_blocks(100, 7);
    CHECK(std::set<uint32_t>(drawn.begin(), drawn.end()).size() == 100);
    CHECK(*std::max_element(drawn.begin(), drawn.end()) == 99);
    CHECK(drawn == order_of_blocks(100, 7));
    CHECK(drawn != order_of_blocks(100, 8));
    CHECK(order_of_blocks(4, 0) == std::vector<uint32_t>{0, 1, 2, 3});
    CHECK(order_of_blocks(1, 7) == std::vector<uint32_t>{0});
}

TEST_CASE("MINI_SIM_BLOCK_SEED sets the order of the blocks, which findings name") {
    const Answer drawn =
        run_self("MINI_SIM_CHECK=1 MINI_SIM_BLOCK_SEED=5", "a block that waits");
    CHECK(drawn.code == 1);
    CHECK_THAT(drawn.text, ContainsSubstring("waits forever: chain_wrong"));
    CHECK_THAT(drawn.text, ContainsSubstring("MINI_SIM_BLOCK_SEED=5)"));

    // Each block waits for the block before it, so ascending order hides the mistake.
    CHECK(run_self("MINI_SIM_CHECK=1 MINI_SIM_BLOCK_SEED=0", "a block that waits").code ==
          0);
    const Answer bad =
        run_self("MINI_SIM_CHECK=1 MINI_SIM_BLOCK_SEED=no", "a block that waits");
    CHECK(bad.code != 0);
    CHECK_THAT(bad.text,
               ContainsSubstring("MINI_SIM_BLOCK_SEED=no: must be an integer from 0"));
}

TEST_CASE("an out-of-bounds report contains the offset and the size of the allocation") {
    const auto reports = reports_of(mini::bugs::guard_off_by_one);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].at.block.x == 3);
    CHECK(reports[0].at.thread.x == 4);
    CHECK_THAT(reports[0].message,
               ContainsSubstring("4 bytes at byte 400 of allocation"));
    CHECK_THAT(reports[0].message, ContainsSubstring("which has 400 bytes"));

    const auto before = reports_of(mini::bugs::negative_halo);
    REQUIRE(before.size() == 1);
    CHECK_THAT(before[0].message,
               ContainsSubstring("that begin 4 bytes before allocation"));

    const auto shared = reports_of(mini::bugs::small_array);
    REQUIRE(shared.size() == 1);
    CHECK_THAT(
        shared[0].message,
        ContainsSubstring("at byte 256 of the shared array cells, which has 256 bytes"));
}

TEST_CASE("a shared array of a device function is described with the function") {
    const auto inside = reports_of(mini::bugs::missing_syncwarp);
    REQUIRE(inside.size() == 1);
    CHECK_THAT(inside[0].message,
               ContainsSubstring("of the shared array all of neighbour, which"));
    const auto own = reports_of(mini::bugs::reduction_race);
    REQUIRE_FALSE(own.empty());
    CHECK_THAT(own[0].message, !ContainsSubstring(" of sum"));
}

TEST_CASE("a report of a shuffle from a lane that has ended names both lanes") {
    const auto reports = reports_of(mini::bugs::ended_lane);
    REQUIRE(reports.size() == 1);
    CHECK_THAT(reports[0].message,
               ContainsSubstring("lane 0 reads the value of lane 16, which is in the "
                                 "mask, but has ended"));
    CHECK(reports[0].other.thread.x == 16);
}

TEST_CASE("all occurrences of a mistake on one line are one report with their number") {
    const auto reports = reports_of(mini::bugs::wrong_stride);
    REQUIRE(reports.size() == 1);
    // The threads of rows 3 to 6: each ends at its first access beyond the allocation.
    CHECK(reports[0].count == 4);
}

TEST_CASE("two runs give the same reports") {
    std::string first, second;
    for (const Report& report : reports_of(mini::bugs::double_buffer))
        first += describe(report);
    for (const Report& report : reports_of(mini::bugs::double_buffer))
        second += describe(report);
    const auto without_ids = [](std::string text) {
        for (size_t at = 0; (at = text.find("allocation ", at)) != std::string::npos;
             ++at)
            while (text[at + 11] >= '0' && text[at + 11] <= '9') text.erase(at + 11, 1);
        return text;
    };
    CHECK_FALSE(first.empty());
    CHECK(without_ids(first) == without_ids(second));
}

TEST_CASE("the shared array of an inlined device function is no mistake") {
    const mini::bugs::Floats x(32), out(32);
    Checker checker;
    patterns::block_totals(out.get(), x.get());
    CHECK(checker.reports().empty());
}

TEST_CASE("a race is found after more accesses than the checker remembers") {
    // 1.2 million loads between the write and the read.
    constexpr unsigned kBlocks = 75'000;
    const auto order = order_of_blocks(kBlocks, block_seed());
    const mini::bugs::Floats x(16), out(1), values(2);
    Checker checker;
    const auto run = [&](size_t read) {
        patterns::far_apart(out.get(), values.get(), values.get() + read, x.get(),
                            order[100], order.back(), kBlocks);
        return checker.reports();
    };
    const auto races = run(0);
    REQUIRE(races.size() == 1);
    CHECK(races[0].mistake == Mistake::kRace);
    CHECK(races[0].at.block.x == order.back());
    CHECK(races[0].other.block.x == order[100]);
    CHECK(races[0].other.kernel == "far_apart_kernel");
    CHECK(races[0].other.line < races[0].at.line);
    CHECK(run(1).empty());
}

TEST_CASE("reports() returns each report once") {
    Checker checker;
    mini::bugs::missing_barrier(true);
    CHECK(checker.reports().size() == 1);
    CHECK(checker.reports().empty());
    mini::bugs::missing_barrier(true);
    CHECK(checker.reports().size() == 1);
}

TEST_CASE("the host can access device memory again after the checker is destroyed") {
    const mini::bugs::Floats x(4);
    {
        Checker checker;
        mini::bugs::missing_barrier(false);
    }
    CHECK(*static_cast<volatile float*>(x.get()) == 1.0f);
}

TEST_CASE("a kernel with MINI_TODO fails, and the error has the task and its title") {
    mini::patterns::unwritten(nullptr);
    CHECK_THAT(test::message_of<mini::cuda::CudaError>([] { cuda::synchronize(0); }),
               ContainsSubstring("[lab06.1] not started: Fill the array."));
    cudaDeviceReset();  // clears the sticky error
}

// Returns the error of a launch that exceeds a limit; requires that the right one works.
std::string error_of(bugs::Run run) {
    const std::string message = test::message_of<cuda::CudaError>([&] { run(true); });
    run(false);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    return message;
}

TEST_CASE("more than 48 KiB of __shared__ arrays are refused") {
    const std::string message = error_of(bugs::large_static);
    CHECK_THAT(message, ContainsSubstring("mini::bugs::large_arrays<12289u>"));
    CHECK_THAT(message, ContainsSubstring("arrays take 49156 bytes"));
    CHECK_THAT(message, ContainsSubstring("all 49152"));
    CHECK_THAT(message, ContainsSubstring("one 4"));
}

TEST_CASE("static and dynamic shared memory share 48 KiB without cudaFuncSetAttribute") {
    const std::string message = error_of(bugs::large_dynamic);
    CHECK_THAT(message, ContainsSubstring("mini::bugs::static_and_dynamic"));
    CHECK_THAT(message,
               ContainsSubstring("requests 46080 bytes of dynamic shared memory, and "
                                 "45056 are allowed beside __shared__ arrays of 4096"));
}

}  // namespace
}  // namespace mini::sim
