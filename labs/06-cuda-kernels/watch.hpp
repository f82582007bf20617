// What a call of the library did on the device, for the checks of lab 06: the simulator's
// findings and counts (watch.cpp). A GPU does not count; there, only results are checked
// (no_watch.cpp).

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mini::labs {

/// The counts of one launch. An access is one load or store by a warp.
struct KernelCounts {
    std::string kernel;
    size_t blocks = 0, threads = 0;  // threads per block
    size_t loads = 0, stores = 0;    // accesses to global memory
    size_t load_sectors = 0, store_sectors = 0;
    size_t least_load_sectors = 0, least_store_sectors = 0;
    size_t bytes_stored = 0;
    size_t shared_loads = 0, shared_stores = 0;  // accesses to shared memory
    size_t passes = 0, least_passes = 0;         // of both
    size_t barriers = 0, atomics = 0;
    std::string wasteful_lines;  // the lines that need more than the least, "" if none
};

struct Seen {
    bool counted = false;  // by the simulator
    std::string mistakes;  // each with its lines, block and threads; "" if none
    std::vector<KernelCounts> launches;  // empty if there are mistakes

    /// Returns the first launch. REQUIRES: there is one.
    const KernelCounts& first() const { return launches.at(0); }
};

/// Runs `call` twice, once to look for mistakes and once to count, and waits for its
/// kernels. Throws what `call` throws, unless a mistake explains it. On a GPU runs it
/// once.
Seen watch(const std::function<void()>& call);

}  // namespace mini::labs
