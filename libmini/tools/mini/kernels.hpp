// mini kernels: what libmini's kernels do to a GPU's memory, counted on the simulator.
//
//     kernel             loads   used   stores   used   shared  passes  worst  barriers ...
//     naive_kernel         512  52 %       16  100 %        0     1.0      0         0
//
//     loads, stores      instructions of warps on global memory
//     used               of the bytes that they fetched or wrote, in sectors of 32
//     passes             of the banks for an instruction on shared memory, and the most

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libmini/cudasim/access_log.hpp"
#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// A call of the library on small inputs, whose launches are worth a look.
struct KernelSample {
    std::string name;
    std::function<void()> run;
};

/// All there are, by name.
std::vector<KernelSample> kernel_samples();

/// The samples of these names, or all for none. Throws UsageError for a name that is none's,
/// with the nearest and all that there are.
std::vector<KernelSample> chosen_samples(const std::vector<std::string>& names);

/// The counters of launches as a table, one line for each kernel and shape.
std::string counters_table(const std::vector<sim::LaunchCounters>& launches);

/// Threads across, addresses down: one square for each access of the first block to global
/// memory, loads blue and stores red. An SVG file's text.
std::string access_picture(const std::vector<sim::LoggedAccess>& accesses,
                           const std::string& title);

/// Declares `kernels` in `mini`; it is answered when the command line has been parsed.
void add_kernels(Command& mini);

}  // namespace mini::tools
