// Kernels with one bug each: the checker reports the bug at its source line, and makes no
// report for the correct version of the kernel.

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/checker.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"
#include "tests/support/catch.hpp"

namespace mini::sim {
namespace {

using namespace mini::bugs;

struct Seeded {
    const char* name;
    Run run;
    Mistake mistake;
    const char* kernel;  // "" for a bug in host code
    const char* file;
};

// Returns the numbers of the lines that end with "// BUG name".
std::set<int> marked_lines(const Seeded& bug) {
    std::ifstream in(std::string(MINI_BUGS_DIR) + "/" + bug.file);
    const std::string marker = std::string("// BUG ") + bug.name;
    std::set<int> lines;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const size_t at = line.find(marker);
        if (at != std::string::npos && at + marker.size() == line.size())
            lines.insert(number);
    }
    return lines;
}

std::string all_of(const std::vector<Report>& reports) {
    std::string text;
    for (const Report& report : reports) text += describe(report) + "\n";
    return text;
}

bool at_marked_line(const Place& place, const Seeded& bug) {
    return std::filesystem::path(place.file).filename() == bug.file &&
           marked_lines(bug).count(place.line) != 0;
}

// Checks that the correct version gives no report, that every report for the wrong
// version has the kind of `bug`, and that one report has the kernel and a marked line of
// `bug`.
void check(const Seeded& bug) {
    INFO(bug.name);
    REQUIRE_FALSE(marked_lines(bug).empty());
    Checker checker;
    bug.run(false);
    const auto of_right = checker.reports();
    INFO("the right one: " << all_of(of_right));
    CHECK(of_right.empty());

    bug.run(true);
    const auto reports = checker.reports();
    cudaDeviceReset();  // clears the sticky error of a stuck kernel
    INFO("the wrong one: " << all_of(reports));
    REQUIRE_FALSE(reports.empty());
    bool found = false;
    for (const Report& report : reports) {
        CHECK(report.mistake == bug.mistake);
        found = found ||
                (report.at.kernel == bug.kernel &&
                 (at_marked_line(report.at, bug) || at_marked_line(report.other, bug)));
    }
    CHECK(found);
}

TEST_CASE("a missing barrier is found") {
    check({"missing_barrier", missing_barrier, Mistake::kRace, "reverse_wrong",
           "shared.cu"});
}
TEST_CASE("a race in a reduction is found") {
    check({"reduction_race", reduction_race, Mistake::kRace, "sum_wrong", "shared.cu"});
}
TEST_CASE("a double buffer without a barrier is found") {
    check({"double_buffer", double_buffer, Mistake::kRace, "smooth_wrong", "shared.cu"});
}
TEST_CASE("overwriting a tile that other threads still read is found") {
    check({"tile_reuse", tile_reuse, Mistake::kRace, "tiles_wrong", "shared.cu"});
}
TEST_CASE("a shared array that is too small is found") {
    check({"small_array", small_array, Mistake::kOutOfBounds, "halo_wrong", "shared.cu"});
}
TEST_CASE("too little dynamic shared memory is found") {
    check({"small_dynamic", small_dynamic, Mistake::kOutOfBounds, "stage", "shared.cu"});
}
TEST_CASE("an uninitialised shared counter is found") {
    check({"unset_accumulator", unset_accumulator, Mistake::kUninitialised, "count_wrong",
           "shared.cu"});
}
TEST_CASE("a guard that is off by one is found") {
    check({"guard_off_by_one", guard_off_by_one, Mistake::kOutOfBounds, "twice_wrong",
           "bounds.cu"});
}
TEST_CASE("a wrong stride is found") {
    check({"wrong_stride", wrong_stride, Mistake::kOutOfBounds, "row_sums_wrong",
           "bounds.cu"});
}
TEST_CASE("a transposed index is found") {
    check({"transposed_index", transposed_index, Mistake::kOutOfBounds, "transpose_wrong",
           "bounds.cu"});
}
TEST_CASE("an index before the beginning is found") {
    check({"negative_halo", negative_halo, Mistake::kOutOfBounds, "left_wrong",
           "bounds.cu"});
}
TEST_CASE("a use after free is found") {
    check({"use_after_free", use_after_free, Mistake::kUseAfterFree, "add_freed",
           "memory.cu"});
}
TEST_CASE("a host pointer in a kernel is found") {
    check({"host_pointer", host_pointer, Mistake::kHostPointer, "add_host", "memory.cu"});
}
TEST_CASE("a null pointer in a kernel is found") {
    check({"null_pointer", null_pointer, Mistake::kHostPointer, "add_null", "memory.cu"});
}
TEST_CASE("a pointer to another device's memory is found") {
    check(
        {"wrong_device", wrong_device, Mistake::kWrongDevice, "add_remote", "memory.cu"});
}
TEST_CASE("a misaligned vector load is found") {
    check({"misaligned_vector", misaligned_vector, Mistake::kMisaligned, "load_four",
           "memory.cu"});
}
TEST_CASE("a misaligned float4 in shared memory is found") {
    check({"misaligned_shared", misaligned_shared, Mistake::kMisaligned, "read_at",
           "alignment.cu"});
}
TEST_CASE("a misaligned float2 in shared memory is found") {
    check({"misaligned_pair", misaligned_pair, Mistake::kMisaligned, "read_pair",
           "alignment.cu"});
}
TEST_CASE("a misaligned float is found") {
    check({"misaligned_float", misaligned_float, Mistake::kMisaligned, "read_float",
           "alignment.cu"});
}
TEST_CASE("a misaligned integer of two bytes is found") {
    check({"misaligned_half", misaligned_half, Mistake::kMisaligned, "read_half",
           "alignment.cu"});
}
TEST_CASE("an uninitialised total in global memory is found") {
    check({"unset_output", unset_output, Mistake::kUninitialised, "accumulate",
           "memory.cu"});
}
TEST_CASE("a device pointer that the host dereferences is found") {
    check({"device_pointer_on_host", device_pointer_on_host, Mistake::kDevicePointer, "",
           "memory.cu"});
}
TEST_CASE("a barrier in a branch is found") {
    check({"divergent_barrier", divergent_barrier, Mistake::kBarrier, "halves_wrong",
           "threads.cu"});
}
TEST_CASE("a return before a barrier is found") {
    check(
        {"early_return", early_return, Mistake::kBarrier, "rotate_wrong", "threads.cu"});
}
TEST_CASE("a shuffle with a wrong mask is found") {
    check({"shuffle_mask", shuffle_mask, Mistake::kWarpMask, "fold_wrong", "threads.cu"});
}
TEST_CASE("a shuffle from a lane that has ended is found") {
    check({"ended_lane", ended_lane, Mistake::kWarpMask, "eight_wrong", "threads.cu"});
}
TEST_CASE("a vote that some lanes never reach is found") {
    check({"absent_lane", absent_lane, Mistake::kBarrier, "vote_wrong", "threads.cu"});
}
TEST_CASE("a missing __syncwarp is found") {
    check({"missing_syncwarp", missing_syncwarp, Mistake::kRace, "swap_wrong",
           "threads.cu"});
}
TEST_CASE("a histogram without atomics is found") {
    check({"histogram", histogram, Mistake::kRace, "histogram_wrong", "threads.cu"});
}
TEST_CASE("a race between blocks is found") {
    check({"neighbour_blocks", neighbour_blocks, Mistake::kRace, "shift_wrong",
           "threads.cu"});
}
TEST_CASE(
    "a last block that reads the results of other blocks without a fence is found") {
    check({"last_block", last_block, Mistake::kRace, "total_wrong", "threads.cu"});
}
TEST_CASE(
    "a write after three lanes' reads of which the middle one is not ordered is found") {
    check({"middle_reader_of_warp", middle_reader_of_warp, Mistake::kRace, "overwrite",
           "order.cu"});
}
TEST_CASE(
    "a write after three blocks' reads of which the middle one is not ordered is found") {
    check({"middle_reader", middle_reader, Mistake::kRace, "overwrite_last", "order.cu"});
}
TEST_CASE("a write between the fence and the atomic is found") {
    check({"write_after_fence", write_after_fence, Mistake::kRace, "sum_late_write",
           "order.cu"});
}
TEST_CASE("an atomic of one thread does not order the other threads of its block") {
    check({"fence_without_barrier", fence_without_barrier, Mistake::kRace,
           "sum_all_threads", "order.cu"});
}
TEST_CASE("a lock of a block without fences is found") {
    check({"block_lock", block_lock, Mistake::kRace, "count_in_block", "order.cu"});
}
TEST_CASE("a lock of all blocks without fences is found") {
    check({"device_lock", device_lock, Mistake::kRace, "count_in_grid", "order.cu"});
}
TEST_CASE("a block that waits for a lower block is found") {
    check({"wait_for_block", wait_for_block, Mistake::kSpin, "chain_wrong", "order.cu"});
}
TEST_CASE("a block that waits for a higher block is found") {
    check({"wait_for_block", wait_for_higher_block, Mistake::kSpin, "chain_wrong",
           "order.cu"});
}
TEST_CASE("a copy that a kernel does not wait for is found") {
    check({"copy_in_other_stream", copy_in_other_stream, Mistake::kMissingSync,
           "read_copied", "streams.cu"});
}
TEST_CASE("a forgotten event is found") {
    check({"forgotten_event", forgotten_event, Mistake::kMissingSync, "consume",
           "streams.cu"});
}
TEST_CASE("a host read before the end of the copy is found") {
    check(
        {"read_before_sync", read_before_sync, Mistake::kMissingSync, "", "streams.cu"});
}
TEST_CASE("a host write to memory that a pending copy reads is found") {
    check({"reused_staging", reused_staging, Mistake::kMissingSync, "", "streams.cu"});
}

}  // namespace
}  // namespace mini::sim
