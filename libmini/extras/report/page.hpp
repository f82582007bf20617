// report.html: a run, or two runs, as one page that needs no network.

#pragma once

#include <string>
#include <vector>

#include "libmini/extras/report/run_folder.hpp"

namespace mini::report {

/// Returns the page of one or two runs. What a run lacks, such as a trace before the end
/// of its first epoch, is left out. REQUIRES: `runs` is not empty.
std::string page_of(const std::vector<RunFolder>& runs);

}  // namespace mini::report
