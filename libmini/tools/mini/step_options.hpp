// The options of mini simulate step, and the plan that they describe.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/program/command_line.hpp"
#include "libmini/tools/mini/result_files.hpp"
#include "libmini/tools/mini/simulated_step.hpp"
#include "libmini/tools/mini/step_profile.hpp"

namespace mini::tools {

struct StepOptions {
    std::string model = "resnet50", from;
    double forward_ms = 35, backward_ms = 70;
    std::vector<int> ranks = {2, 8, 64, 256};
    std::vector<double> caps_mb = {25};
    std::string link = "100Gbit,10us";
    std::string algorithm = "auto";
    std::vector<std::string> slow_ranks;  // "3:2.5"
    bool overlaps = true;
    uint64_t seed = 0;
    ResultFiles files;
};

/// Declares the options. REQUIRES: `options` outlives the parsing of the command line.
void add_step_options(Command& command, StepOptions& options);

/// The values that are equal for all rows of the table.
struct StepPlan {
    std::string name;  // of the model, or the report's path
    StepProfile profile;
    std::vector<double> caps_mb;
    StepCluster cluster;  // `ranks` is set for each row
};

/// Returns the plan that `options` describe. `command` is the command on which
/// add_step_options() declared the options. Throws UsageError, which names the invalid
/// option, and BadFile if read_step() cannot read the report of --from.
StepPlan plan_of(const Command& command, const StepOptions& options);

}  // namespace mini::tools
