// The two short notations in which Slurm writes long lists.

#pragma once

#include <string>
#include <vector>

namespace mini::dist {

/// The hosts of Slurm's notation: "node[01-03,7],gpu5" is node01, node02, node03, node7
/// and gpu5. Throws UsageError for text that is not of this form.
std::vector<std::string> expand_host_list(const std::string& text);

/// The counts of Slurm's notation, one a node: "4(x2),3" is 4, 4, 3. Throws UsageError.
std::vector<int> expand_task_counts(const std::string& text);

}  // namespace mini::dist
