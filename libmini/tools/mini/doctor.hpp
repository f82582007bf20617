// mini doctor: what ranks need from this machine, and what it lacks.
//
//     $ mini doctor --ranks 4
//     warn  cores                   2
//           -> 4 ranks take turns: measure with at most 2
//     ok    loopback                127.0.0.1 listens and connects
//     ...
//
// labs/lab doctor prints the same table of what the build needs, and then this one.

#pragma once

#include <string>
#include <vector>

#include "libmini/program/command_line.hpp"
#include "libmini/tools/mini/machine_facts.hpp"

namespace mini::tools {

struct Finding {
    enum class Level {
        kOk,
        kInfo,  // missing, and needed by few
        kWarn,  // some jobs fail, or are slow
        kFail,  // no job runs
    };
    Level level;
    std::string what, found;
    std::string remedy;  // "" if there is nothing to do
};

/// Judges the facts for a job of `ranks` ranks on this machine.
std::vector<Finding> findings(const MachineFacts& facts, int ranks);

/// Declares `doctor` in `mini`. When the command line has been parsed, `doctor` prints
/// the findings about this machine, and throws Error if one of them is Level::kFail.
void add_doctor(Command& mini);

}  // namespace mini::tools
