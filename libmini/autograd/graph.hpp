// Walks over the autograd graph, from a result to the leaves.

#pragma once

#include <unordered_map>

#include "libmini/autograd/node.hpp"

namespace mini {

/// Returns, for each node that can be reached from `root` along inputs(), how many
/// contributions to its gradient a backward pass from `root` sends: one for each edge that
/// ends at the node. An edge counts once, however many paths lead through it, and an
/// operation with the same tensor as both inputs has two edges. `root` is included, with
/// 0. The time is proportional to the number of edges, and the depth of the graph is
/// limited by memory only, not by the stack.
std::unordered_map<const Node*, int> count_senders(const Node& root);

}  // namespace mini
