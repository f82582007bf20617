// Kernels with one bug each: the checker reports the bug at its source line, and makes no
// report for the correct version of the kernel.

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
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
};

using Line = std::pair<std::string, int>;  // a file of bugs/, and a line

// Returns the lines that end with "// BUG name".
std::set<Line> marked_lines(const Seeded& bug) {
    const std::string marker = std::string("// BUG ") + bug.name;
    std::set<Line> lines;
    for (const auto& file : std::filesystem::directory_iterator(MINI_BUGS_DIR)) {
        std::ifstream in(file.path());
        int number = 0;
        for (std::string line; std::getline(in, line);) {
            ++number;
            if (line.ends_with(marker))
                lines.emplace(file.path().filename().string(), number);
        }
    }
    return lines;
}

std::string all_of(const std::vector<Report>& reports) {
    std::string text;
    for (const Report& report : reports) text += describe(report) + "\n";
    return text;
}

bool at_marked_line(const Place& place, const Seeded& bug) {
    const std::string file = std::filesystem::path(place.file).filename().string();
    return marked_lines(bug).contains({file, place.line});
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

const std::vector<Seeded> kBugs = {
    // shared.cu
    {"missing_barrier", missing_barrier, Mistake::kRace, "reverse"},
    {"reduction_race", reduction_race, Mistake::kRace, "sum"},
    {"double_buffer", double_buffer, Mistake::kRace, "smooth"},
    {"tile_reuse", tile_reuse, Mistake::kRace, "tiles"},
    {"small_array", small_array, Mistake::kOutOfBounds, "halo_wrong"},
    {"small_dynamic", small_dynamic, Mistake::kOutOfBounds, "stage"},
    {"unset_accumulator", unset_accumulator, Mistake::kUninitialised, "count"},

    // memory.cu
    {"guard_off_by_one", guard_off_by_one, Mistake::kOutOfBounds, "twice"},
    {"wrong_stride", wrong_stride, Mistake::kOutOfBounds, "row_sums"},
    {"negative_halo", negative_halo, Mistake::kOutOfBounds, "left"},
    {"use_after_free", use_after_free, Mistake::kUseAfterFree, "add_freed"},
    {"host_pointer", host_pointer, Mistake::kHostPointer, "add_host"},
    {"null_pointer", null_pointer, Mistake::kHostPointer, "add_null"},
    {"wrong_device", wrong_device, Mistake::kWrongDevice, "add_remote"},
    {"misaligned_vector", misaligned_vector, Mistake::kMisaligned, "load_four"},
    {"unset_output", unset_output, Mistake::kUninitialised, "accumulate"},
    {"device_pointer_on_host", device_pointer_on_host, Mistake::kDevicePointer, ""},

    // threads.cu
    {"divergent_barrier", divergent_barrier, Mistake::kBarrier, "halves_wrong"},
    {"early_return", early_return, Mistake::kBarrier, "rotate"},
    {"shuffle_mask", shuffle_mask, Mistake::kWarpMask, "fold_wrong"},
    {"ended_lane", ended_lane, Mistake::kWarpMask, "eight_wrong"},
    {"absent_lane", absent_lane, Mistake::kBarrier, "vote_wrong"},
    {"missing_syncwarp", missing_syncwarp, Mistake::kRace, "swap"},
    {"histogram", histogram, Mistake::kRace, "histogram_wrong"},
    {"neighbour_blocks", neighbour_blocks, Mistake::kRace, "shift_wrong"},
    // Its last block reads the results of other blocks without a fence.
    {"last_block", last_block, Mistake::kRace, "total"},
    {"different_values", different_values, Mistake::kRace, "set_flag"},
    // A race, even if the value is the same.
    {"read_beside_write", read_beside_write, Mistake::kRace, "set_and_read"},
    {"block_votes", block_votes, Mistake::kRace, "votes"},

    // order.cu
    // Of three lanes that read, the write is not ordered after the middle one.
    {"middle_reader_of_warp", middle_reader_of_warp, Mistake::kRace, "overwrite"},
    // The same with three blocks.
    {"middle_reader", middle_reader, Mistake::kRace, "overwrite_last"},
    // A write between the fence and the atomic.
    {"write_after_fence", write_after_fence, Mistake::kRace, "sum_late_write"},
    // One thread's atomic does not order the other threads of its block.
    {"fence_without_barrier", fence_without_barrier, Mistake::kRace, "sum_all_threads"},
    // Locks without fences.
    {"block_lock", block_lock, Mistake::kRace, "count_in_block"},
    {"device_lock", device_lock, Mistake::kRace, "count_in_grid"},
    {"wait_for_block", wait_for_block, Mistake::kSpin, "chain_wrong"},
    {"wait_for_block", wait_for_higher_block, Mistake::kSpin, "chain_wrong"},
};

TEST_CASE("each bug is found at its source line, and nothing in the right version") {
    check(kBugs[GENERATE(range(size_t{0}, kBugs.size()))]);
}

}  // namespace
}  // namespace mini::sim
