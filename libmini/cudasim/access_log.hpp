// What a launch did to memory, counted as a GPU's memory system would count it.
//
// The lanes of a warp that execute one load or store together are found again by where the
// instruction stands and how often the lane has executed it: a warp's k-th execution.
//
//     global    fetches whole sectors of 32 bytes
//     shared    32 banks of 4 bytes; words of one bank in different rows go one by one

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/types.hpp"

namespace mini::sim {

/// Loads, or stores, of one memory, in instructions of warps.
struct Traffic {
    size_t instructions = 0;
    size_t partial = 0;  // those that not all living lanes of the warp took part in
    size_t used = 0;     // bytes that lanes asked for, each byte of an instruction once
    size_t sectors = 0;  // global: fetched, of 32 bytes
    size_t rounds = 0;   // shared: passes over the banks
    size_t least = 0;    // shared: passes without a conflict
    size_t worst = 0;    // shared: the most passes for what could have been one

    /// Bytes used of bytes fetched, 1 at best; 1 for none.
    double efficiency() const;
};

/// The counters of one launch.
struct LaunchCounters {
    std::string kernel;
    dim3 grid, block;
    Traffic global_loads, global_stores, shared_loads, shared_stores;
    size_t atomics = 0;   // of threads
    size_t barriers = 0;  // of blocks
};

/// One load or store of one thread, for a picture.
struct LoggedAccess {
    uint32_t block = 0;
    uint32_t thread = 0;
    uintptr_t address = 0;
    uint32_t bytes = 0;
    Mode mode = Mode::kRead;
    bool shared = false;
    const void* at = nullptr;  // in the kernel
};

class AccessLog {
  public:
    /// Keeps the first `most` accesses of each launch one by one.
    explicit AccessLog(size_t most = 0) : most_(most) {}

    void begin_launch(std::string kernel, dim3 grid, dim3 block);
    void begin_block(unsigned threads);
    void access(const LoggedAccess& access);
    void barrier() { ++launches_.back().barriers; }
    void end_block();

    const std::vector<LaunchCounters>& launches() const { return launches_; }
    const std::vector<LoggedAccess>& accesses() const { return accesses_; }

  private:
    // One execution of a load or store by a warp.
    struct Execution {
        Mode mode = Mode::kRead;
        bool shared = false;
        uint32_t bytes = 0;
        uint32_t lanes = 0;
        std::array<uintptr_t, 32> addresses;
    };
    // All executions of one instruction by one warp of the block.
    struct Instruction {
        std::array<uint32_t, 32> times{};
        std::vector<Execution> executions;
    };

    void count(const Execution& execution, uint32_t living);

    size_t most_;
    std::vector<LaunchCounters> launches_;
    std::vector<LoggedAccess> accesses_;
    std::map<std::pair<uint32_t, const void*>, Instruction> block_;
    unsigned threads_ = 0;
};

}  // namespace mini::sim
