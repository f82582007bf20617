// Slurm's two compressed notations: for lists of hosts, and for lists of task counts.

#pragma once

#include <string>

namespace mini::dist {

/// The first host of a list.
struct FirstHost {
    std::string name{};
    bool is_only = true;  // whether the list has no other host
};

/// Returns the first host: node01 of "node[01-03,7],gpu5". Throws UsageError with the list
/// if it does not begin in Slurm's notation; what follows the first host is not checked.
FirstHost first_host(const std::string& list);

/// Returns the count of a node, counted from 0: of "4(x2),3" it is 4 for nodes 0 and 1, and
/// 3 for node 2; -1 if there are fewer nodes. Throws UsageError with the list if a count
/// up to this node is not in Slurm's notation. REQUIRES: node >= 0.
int task_count(const std::string& list, int node);

}  // namespace mini::dist
