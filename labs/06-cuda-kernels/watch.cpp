#include "labs/06-cuda-kernels/watch.hpp"

#include <algorithm>
#include <regex>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/checker.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::labs {
namespace {

// Without the caching allocator each array is an allocation of its own, so that the
// checker sees where it ends.
[[maybe_unused]] const bool uncached = (cuda::set_caching(false), true);

std::string meaning(sim::Mistake mistake) {
    switch (mistake) {
        case sim::Mistake::kRace:
            return "two threads use one element, at least one of them writes, and no "
                   "barrier orders them: on a GPU the result depends on which warp is "
                   "faster";
        case sim::Mistake::kBarrier:
            return "__syncthreads() waits for all threads of the block: on a GPU this "
                   "may hang, or let threads pass that should wait";
        case sim::Mistake::kWarpMask:
            return "a shuffle exchanges values only among the lanes of its mask, and all "
                   "of them must call it";
        case sim::Mistake::kOutOfBounds:
            return "the array ends before this element: the last block has more threads "
                   "than elements are left";
        case sim::Mistake::kUninitialised:
            return "no thread has written this element yet; if your code does not name "
                   "this array, an index runs past the array before it";
        default: return "";
    }
}

constexpr size_t kTold = 2;  // mistakes; later ones mostly follow from the first

// Shortens the learner's paths: the compiler takes "work/libmini/a.cu" as relative to the
// folder of the build, or names the copy that it compiles, build/mine/06/libmini/a.cu.
std::string with_short_paths(const std::string& text) {
    static const std::regex own(R"([\w./-]*(/work|build/mine/06)/libmini/)");
    return std::regex_replace(text, own, "work/libmini/");
}

std::string told(const std::vector<sim::Report>& reports) {
    std::string text;
    for (size_t i = 0; i < std::min(kTold, reports.size()); ++i) {
        text += concat(text.empty() ? "" : "\n", sim::describe(reports[i]));
        const std::string means = meaning(reports[i].mistake);
        if (!means.empty()) text += "\n    it means: " + means;
    }
    if (reports.size() > kTold)
        text += concat("\nand ", reports.size() - kTold, " more lines with mistakes");
    return with_short_paths(text);
}

KernelCounts counts_of(const sim::LaunchCounters& launch) {
    KernelCounts counts;
    counts.kernel = launch.kernel;
    counts.blocks = size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    counts.threads = size_t{launch.block.x} * launch.block.y * launch.block.z;
    counts.loads = launch.global_loads.instructions;
    counts.stores = launch.global_stores.instructions;
    counts.load_sectors = launch.global_loads.cost;
    counts.store_sectors = launch.global_stores.cost;
    counts.least_load_sectors = launch.global_loads.least;
    counts.least_store_sectors = launch.global_stores.least;
    counts.bytes_stored = launch.global_stores.used;
    counts.shared_loads = launch.shared_loads.instructions;
    counts.shared_stores = launch.shared_stores.instructions;
    counts.passes = launch.shared_loads.cost + launch.shared_stores.cost;
    counts.least_passes = launch.shared_loads.least + launch.shared_stores.least;
    counts.barriers = launch.barriers;
    counts.atomics = launch.atomics;
    if (counts.load_sectors + counts.store_sectors + counts.passes ==
        counts.least_load_sectors + counts.least_store_sectors + counts.least_passes)
        return counts;
    for (const sim::LineTraffic& line : sim::traffic_by_line(launch))
        if (line.traffic.cost > line.traffic.least)
            counts.wasteful_lines +=
                concat(counts.wasteful_lines.empty() ? "" : "\n", launch.kernel, ", ",
                       with_short_paths(sim::describe(line)));
    return counts;
}

}  // namespace

Seen watch(const std::function<void()>& call) {
    Seen seen;
    seen.counted = true;
    {
        sim::Checker checker;
        try {
            call();
            cuda::synchronize(0);
            seen.mistakes = told(checker.reports());
        } catch (const cuda::CudaError&) {
            seen.mistakes = told(checker.reports());
            if (seen.mistakes.empty()) throw;
        }
    }
    if (!seen.mistakes.empty()) return seen;
    sim::Counting counting;
    call();
    for (const sim::LaunchCounters& launch : counting.log().launches())
        seen.launches.push_back(counts_of(launch));
    return seen;
}

}  // namespace mini::labs
