// Counts the memory traffic of a launch as a GPU's memory system would.
//
// Lanes run one after another, so their accesses are grouped into warp instructions
// afterwards: the k-th execution of an instruction by each lane belongs to the warp's
// k-th execution.
//
//     global    memory is fetched in whole sectors of 32 bytes
//     shared    32 banks of 4 bytes; different words of one bank are served in turn
//
// describe() says which source lines of a kernel fetch more than they use:
//
//     relu.cu:33 loads, global memory: 4096 sectors of 32 bytes; 512 would hold
//     the data
//         worst: block 0, threads 0 to 31: 32 sectors of 32 bytes; 4 would hold the data
//         thread 0 at byte 0, thread 1 at byte 32, thread 2 at byte 64, ...

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/types.hpp"

namespace mini::sim {

/// Shared memory consists of banks: word w, of 4 bytes, is in bank w % kBanks.
constexpr uintptr_t kBanks = 32, kBankBytes = 4;

/// One execution of a load or store by the lanes of a warp.
struct WarpAccess {
    uint32_t block = 0;  // linear index in the grid
    uint32_t warp = 0;   // index in the block: threads 32 warp to 32 warp + 31
    uint32_t bytes = 0;  // per lane
    size_t cost = 0;     // sectors; passes, for shared memory
    size_t least = 0;    // sectors or passes that would do
    // Each lane that took part, and its address.
    std::vector<std::pair<uint32_t, uintptr_t>> addresses = {};
};

/// The loads, or the stores, of one kind of memory.
struct Traffic {
    size_t instructions = 0;  // executed by warps
    size_t used = 0;          // bytes requested; a byte counts once per instruction
    size_t cost = 0;   // sectors of 32 bytes that were fetched; passes over the banks
    size_t least = 0;  // sectors that would hold the same bytes without gaps; passes that
                       // would be needed without bank conflicts
    WarpAccess example = {};  // an execution with the largest cost - least

    size_t waste() const { return cost - least; }
    /// Returns bytes used / bytes fetched of global memory: at most 1, and 1 if no sector
    /// was fetched.
    double efficiency() const;

    Traffic& operator+=(const Traffic& other);
};

/// The counters of one launch.
struct LaunchCounters {
    std::string kernel;
    dim3 grid, block;
    Traffic global_loads = {}, global_stores = {}, shared_loads = {}, shared_stores = {};
    size_t atomics = 0;   // counted per thread
    size_t barriers = 0;  // counted per block
    // By the instruction's address and mode, and whether it accesses shared memory.
    std::map<std::tuple<const void*, Mode, bool>, Traffic> instructions = {};
};

class AccessLog {
  public:
    void begin_launch(std::string kernel, dim3 grid, dim3 block);
    /// Counts an access of a thread; `shared` is whether it goes to shared memory.
    void access(uint32_t block, uint32_t thread, const MemoryAccess& access, bool shared);
    void barrier() { ++launches_.back().barriers; }
    void end_block();

    const std::vector<LaunchCounters>& launches() const { return launches_; }

  private:
    // All executions of one instruction by one warp of the block.
    struct Instruction {
        std::array<uint32_t, 32> times{};
        std::vector<WarpAccess> executions;
    };

    std::vector<LaunchCounters> launches_;
    // Of the running block, by warp, instruction address, mode, and kind of memory.
    std::map<std::tuple<uint32_t, const void*, Mode, bool>, Instruction> block_;
};

/// A source line's file and number (0: unknown), the mode of its accesses, and whether they go
/// to shared memory.
using SourceLine = std::tuple<std::string, int, Mode, bool>;

/// Returns the traffic of each source line of a launch.
std::map<SourceLine, Traffic> traffic_by_line(const LaunchCounters& launch);

/// Returns the text above: one line if its cost is the least, else with the execution that
/// wastes most, and the addresses of its first threads, counted from the lowest.
std::string describe(const SourceLine& line, const Traffic& traffic);

/// Returns the traffic of a launch, and of the source lines that waste most:
///
///     transpose, 64 blocks of 256 threads
///         loads 512 instructions, 2048 sectors, 100 % used; stores 512, 16384, 12 % used
///         transpose.cu:9 stores, global memory: 16384 sectors of 32 bytes; ...
std::string describe(const LaunchCounters& launch);

}  // namespace mini::sim
