// Slurm's two compressed notations: for lists of hosts, and for lists of task counts.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mini::dist {

/// The maximum number of hosts or counts in one list; no Slurm cluster has more.
constexpr size_t kMaxSlurmEntries = 1 << 16;

/// The longest host name in bytes: the limit of DNS.
constexpr size_t kMaxHostBytes = 255;

/// Expands a list of hosts: "node[01-03,7],gpu5" is node01, node02, node03, node7 and
/// gpu5. Throws UsageError with the list and the reason if the text has another form, if
/// there are more than kMaxSlurmEntries hosts, or if a name is longer than kMaxHostBytes.
std::vector<std::string> expand_host_list(const std::string& text);

/// Expands a list of task counts, one per node: "4(x2),3" is 4, 4, 3. Throws UsageError
/// as expand_host_list does.
std::vector<int> expand_task_counts(const std::string& text);

}  // namespace mini::dist
