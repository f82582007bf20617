// The options of mini simulate step, and the plan that they describe; and the options of
// a model or run, which mini simulate buckets has too.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/extras/scaling/simulated_step.hpp"
#include "libmini/extras/scaling/step_profile.hpp"
#include "libmini/program/command_line.hpp"

namespace mini::scaling {

struct ProfileOptions {
    std::string model = "resnet50", from;
    double forward_ms = 35, backward_ms = 70;

    /// Returns the name of the model, or the path of the report.
    const std::string& name() const { return from.empty() ? model : from; }
};

/// Declares the options. REQUIRES: `options` outlives the parsing of the command line.
void add_profile_options(Command& command, ProfileOptions& options);

/// Returns the step of --from, or the step and the default bucket size of --model.
/// `command` is the command on which add_profile_options() declared the options. Throws
/// UsageError, which names the invalid option, and BadFile if read_step() cannot read the
/// report.
MeasuredStep step_of(const Command& command, const ProfileOptions& options);

/// Throws UsageError, which names the option, unless 0 <= mb <= kMaxCapMb for each size.
void check_bucket_sizes(const char* option, const std::vector<double>& sizes_mb);

/// Declares --bucket-cap-mb. REQUIRES: `caps_mb` is empty and outlives the parsing.
void add_caps_option(Command& command, std::vector<double>& caps_mb);

/// Returns `caps_mb`, the sizes of --bucket-cap-mb; if it is empty, the size that the
/// buckets of `step` had.
std::vector<double> caps_of(const std::vector<double>& caps_mb, const MeasuredStep& step);

struct StepOptions {
    ProfileOptions of;
    std::vector<int> ranks = {2, 8, 64, 256};
    std::vector<double> caps_mb;  // empty: the step's own
    std::string link = "100Gbit,10us";
    std::string algorithm = "auto";
    std::vector<std::string> slow_ranks;  // "3:2.5"
    bool overlaps = true;
    uint64_t seed = 0;
    std::string format = "table";
};

/// Declares the options. REQUIRES: `options` outlives the parsing of the command line.
void add_step_options(Command& command, StepOptions& options);

/// The values that are equal for all rows of the table.
struct StepPlan {
    StepProfile profile;
    std::vector<double> caps_mb;
    StepCluster cluster;  // `ranks` is set for each row
};

/// Returns the plan that `options` describe. `command` is the command on which
/// add_step_options() declared the options. Throws as step_of(), and UsageError, which
/// names the invalid option.
StepPlan plan_of(const Command& command, const StepOptions& options);

}  // namespace mini::scaling
