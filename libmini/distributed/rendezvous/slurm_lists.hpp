// The two short notations in which Slurm writes long lists.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mini::dist {

/// The most hosts, or counts, of one list; no cluster that Slurm runs has more.
constexpr size_t kMaxSlurmEntries = 1 << 16;

/// The longest name of a host in bytes; the domain name system allows no longer one.
constexpr size_t kMaxHostBytes = 255;

/// The hosts of Slurm's notation: "node[01-03,7],gpu5" is node01, node02, node03, node7
/// and gpu5. Throws UsageError that names the list and what is wrong for text that is not
/// of this form, and for more hosts or longer names than the above.
std::vector<std::string> expand_host_list(const std::string& text);

/// The counts of Slurm's notation, one per node: "4(x2),3" is 4, 4, 3. Throws
/// UsageError as expand_host_list does.
std::vector<int> expand_task_counts(const std::string& text);

}  // namespace mini::dist
