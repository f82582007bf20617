// mini kernels: counts the memory traffic of libmini's kernels on the simulator.
//
//     kernel           loads   used   stores   used   shared  passes  worst  barriers ...
//     naive_kernel       512  52 %       16  100 %        0     1.0      0         0
//
//     loads, stores    warp instructions that access global memory
//     used             bytes used / bytes of the transferred sectors (32 bytes each)
//     shared           warp instructions that access shared memory
//     passes           passes over the banks / passes needed without bank conflicts
//     worst            most passes of an access that needs one pass without conflicts
//
// With --lines: the sectors and passes of each source line (cudasim/line_traffic.hpp).
// With --json: what NVIDIA's ncu counts too, for tests/gpu/run.py, which compares the two.

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/tools/mini/kernel_samples.hpp"

namespace mini::tools {

/// Returns the counters as a table, one line per launch.
std::string counters_table(const std::vector<sim::LaunchCounters>& launches);

/// Returns the traffic of each source line of each launch, with the threads of the worst
/// access.
std::string lines_text(const std::vector<sim::LaunchCounters>& launches);

/// Returns the counters of each launch of a sample: "kernel", "grid", "block", and
/// "load_sectors", "store_sectors", "shared_load_passes", "shared_store_passes".
nlohmann::ordered_json counters_json(const std::vector<sim::LaunchCounters>& launches,
                                     size_t first);

/// Returns the text of an SVG file: one square for each access of the first block to
/// global memory, threads across and addresses down; loads are blue, stores red and
/// atomics green.
std::string access_picture(const std::vector<sim::LoggedAccess>& accesses,
                           const std::string& title);

/// Declares `kernels` in `mini`; the command runs the samples when the command line has
/// been parsed.
void add_kernels(Command& mini);

}  // namespace mini::tools
