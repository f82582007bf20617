// The backward pass: from the node of a result to the leaves.

#pragma once

#include <functional>
#include <memory>

#include "libmini/autograd/graph.hpp"

namespace mini {

/// Sends `gradient` (which is defined) to `root`, then calls every node that can be reached
/// from `root` along inputs(). REQUIRES: the caller keeps `root`.
///
/// Sums. apply() of a node is called once, when a contribution has come along every edge
/// of the pass that ends at the node, with the sum in the order in which they came. Two
/// edges from one node are two contributions. A contribution may be undefined: it counts,
/// and adds nothing. If all are undefined, apply() is not called, and the node sends an
/// undefined contribution to each input. No tensor that was passed or returned is changed
/// in place: other tensors may share its values.
///
/// Order. Of the ready nodes, the one with the highest sequence() is next; of equal ones,
/// the one that was ready first. A node sends to its inputs in their order.
///
/// Memory. Without retain_graph, release() is called once for each node, also for one that
/// got no gradient, before apply() of the next. If apply() throws, the node is not released.
/// The pass keeps a gradient only until its node was called. The graph may be 100,000 nodes
/// deep, with 2^40 paths to a node: the time is proportional to the number of edges.
///
/// Nothing is recorded during the pass, also in hooks and callbacks. A hook may start
/// another pass, which ends before the hook goes on. An exception of a node, a hook or a
/// callback ends the pass, whose other callbacks are not called; it is thrown unchanged.
void run_backward(const std::shared_ptr<Node>& root, Tensor gradient, bool retain_graph);

/// Calls `callback` at the end of the backward pass that is running on this thread, after
/// the last gradient (`Engine::queue_callback`); if a hook has started a pass in a pass,
/// at the end of the inner one. Callbacks are called in the order in which they were
/// queued; a callback may queue another. Throws Error if no backward pass is running.
void queue_callback(std::function<void()> callback);

}  // namespace mini
