// Which source lines of a kernel fetch more than they use.
//
//     relu_ladder.cu:20 loads, global memory: 4096 sectors of 32 bytes; 512 would hold
//     the data
//         worst: block 0, threads 0 to 31: 32 sectors of 32 bytes; 4 would hold the data
//         thread 0 at byte 0, thread 1 at byte 32, thread 2 at byte 64, ...

#pragma once

#include <string>
#include <vector>

#include "libmini/extras/cudasim/access_log.hpp"

namespace mini::sim {

/// The loads, or the stores, of one source line in one kind of memory.
struct LineTraffic : InstructionTraffic {
    std::string file;
    int line = 0;  // 0: unknown

    /// Returns the sectors (global) or passes (shared) of the launch.
    size_t cost() const { return shared ? traffic.rounds : traffic.sectors; }
    /// Returns the sectors that would hold the same bytes without gaps, or the passes
    /// that would be needed without bank conflicts.
    size_t least() const { return shared ? traffic.least : traffic.packed; }
};

/// Returns the traffic of each source line of a launch, in the order of files and lines.
std::vector<LineTraffic> traffic_by_line(const LaunchCounters& launch);

/// Returns the text above: one line if cost() is least(), else with the execution that
/// wastes most, and the addresses of its first threads, counted from the lowest.
std::string describe(const LineTraffic& line);

/// Returns the traffic of a launch, and of the source lines that waste most:
///
///     transpose, 64 blocks of 256 threads
///         loads 512 instructions, 2048 sectors, 100 % used; stores 512, 16384, 12 % used
///         transpose.cu:9 stores, global memory: 16384 sectors of 32 bytes; ...
std::string describe(const LaunchCounters& launch);

}  // namespace mini::sim
