#include "labs/06-cuda-kernels/watch.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/checker.hpp"

namespace mini::labs {
namespace {

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

std::string told(const std::vector<sim::Report>& reports) {
    std::string text;
    for (size_t i = 0; i < std::min(kTold, reports.size()); ++i) {
        text += concat(text.empty() ? "" : "\n", sim::describe(reports[i]));
        const std::string means = meaning(reports[i].mistake);
        if (!means.empty()) text += "\n    it means: " + means;
    }
    if (reports.size() > kTold)
        text += concat("\nand ", reports.size() - kTold, " more lines with mistakes");
    return text;
}

// Returns the text of the last error, "" if there is none.
std::string last_error() {
    const cudaError_t refused = cudaGetLastError(), failed = cudaDeviceSynchronize();
    const cudaError_t error = refused != cudaSuccess ? refused : failed;
    return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

}  // namespace

Seen watch(const std::function<void()>& call) {
    Seen seen;
    {
        sim::Checker checker;
        call();
        const std::string error = last_error();
        seen.mistakes = told(checker.reports());
        if (!seen.mistakes.empty()) return seen;
        MINI_CHECK(error.empty(), error);
    }
    sim::Counting counting;
    call();
    seen.launches = counting.log().launches();
    return seen;
}

}  // namespace mini::labs
