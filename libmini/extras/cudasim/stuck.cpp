#include "libmini/extras/cudasim/stuck.hpp"

#include <algorithm>
#include <ios>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/cudasim/symbols.hpp"

namespace mini::sim {
namespace {

constexpr size_t kMaxListed = 4;  // threads listed by index

std::string plural(size_t count, const char* what) {
    return concat(count, " ", what, count == 1 ? "" : "s");
}

// Returns "3 threads (0, 1, 2)", or an empty string if there are none.
std::string threads_at(std::span<const ThreadState> states, ThreadState::At at) {
    std::vector<std::string> named;
    size_t count = 0;
    for (size_t i = 0; i < states.size(); ++i)
        if (states[i].at == at && ++count <= kMaxListed)
            named.push_back(std::to_string(i));
    if (count == 0) return {};
    if (count > kMaxListed) named.push_back("...");
    return concat(plural(count, "thread"), " (", mini::join(named), ")");
}

std::string place(dim3 at) { return concat("(", at.x, ", ", at.y, ", ", at.z, ")"); }

}  // namespace

std::string stuck_message(const Launch& launch, const Coordinates& of_one,
                          std::span<const ThreadState> states) {
    using At = ThreadState::At;
    std::vector<std::string> parts;
    const auto add = [&](At at, const std::string& what) {
        const std::string threads = threads_at(states, at);
        if (!threads.empty()) parts.push_back(concat(threads, " ", what));
    };
    const auto waits =
        std::find_if(states.begin(), states.end(),
                     [](const ThreadState& each) { return each.at == At::kWarpBarrier; });
    add(At::kBlockBarrier, "at __syncthreads()");
    if (waits != states.end())
        add(At::kWarpBarrier,
            concat("in a warp operation, the first with mask 0x", std::hex, waits->mask));
    add(At::kExited, "exited");
    return concat("kernel ", kernel_name(launch.kernel), ", block ",
                  place(of_one.block_index),
                  ": no thread can continue: ", mini::join(parts),
                  "; all threads that a barrier waits for must reach it");
}

}  // namespace mini::sim
