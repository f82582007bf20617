// Replicas: copies of a module on other devices, for one forward and backward pass each.
//
// A replica computes on a lane's thread, and its graph ends at its own parameters and its
// own chunk. Two nodes stand for it in the caller's graph:
//
//     parameters ─┐
//                 ├─► [replicate 1] ─► [parallel_apply 1] ─► output 1 ─┐
//     chunk 1 ────┘                                                    ├─► [gather]
//     chunk 0 ────────► the module itself, node by node ───► output 0 ─┘
//
// The engine takes the youngest node first. parallel_apply is made after the module's
// own nodes, so its gradient comes first: it starts the replica's backward pass on the
// lane and does not wait. replicate is made before them, so it comes last: it waits for
// the lane and hands the replica's gradients to the parameters. In between the caller
// works through the module's own part, and all devices are busy at once.

#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/data_parallel_lane.hpp"
#include "libmini/parallel/scatter_gather.hpp"
#include "libmini/random/random.hpp"

namespace mini::parallel {

/// Builds one more module of the same kind; its numbers do not matter, they are replaced.
using ModuleFactory = std::function<std::unique_ptr<nn::Module>()>;

/// Waits for `job` and rethrows what it threw, with "Caught Error in replica 1 on device
/// cpu:1. " in front of its message; ShapeError and UsageError stay what they are.
void finish(std::future<void>& job, size_t replica, Device device);

/// A copy of a module on a device. Building one costs what its initialisers cost, so it
/// is used again, by one pass after the other; each takes the module's numbers afresh.
struct Replica {
    /// Builds the copy, on the lane, so that the caller's generator is not drawn from.
    /// Throws Error, naming the first one, when its parameters or buffers are not those
    /// of `original`.
    Replica(size_t index, std::shared_ptr<Lane> lane, const ModuleFactory& make,
            const nn::Module& original);

    size_t index;  // among the devices
    std::shared_ptr<Lane> lane;
    std::unique_ptr<nn::Module> module;
    std::vector<Tensor> parameters;
    std::vector<Tensor> buffers;
    std::atomic<bool> in_use = false;
};

/// One forward pass of a replica, and the backward passes through it. start_... hands the
/// work to the lane; finish_... waits for it and rethrows what it threw.
class ReplicaPass : public std::enable_shared_from_this<ReplicaPass> {
  public:
    /// `home` is the module's device. REQUIRES: no other pass uses the replica.
    ReplicaPass(std::shared_ptr<Replica> replica, Device home, SharedStats stats);

    /// Waits for the lane, then gives the replica back.
    ~ReplicaPass();

    /// Copies parameters and buffers, which of them require grad, and which submodules
    /// are in training. REQUIRES: `original` stays as it is until finish_replicate.
    void start_replicate(nn::Module& original);

    /// The result of the node "replicate", of no elements: it stands for the replica in
    /// the caller's graph. `chunk` is on the replica's device already.
    Tensor finish_replicate(const nn::Module& original, const Tensor& chunk);

    /// Random numbers are drawn from `generator`.
    void start_forward(const Generator& generator);

    /// Waits without throwing; so that all replicas can be waited for first.
    void wait() const;

    /// The replica's output, in the caller's graph the result of `replicated`.
    Tensor finish_forward(const Tensor& replicated);

  private:
    void start_backward(const Tensor& gradient);
    Grads finish_backward();

    std::shared_ptr<Replica> replica_;
    Device home_;
    SharedStats stats_;
    Tensor chunk_;   // a leaf of the replica's graph
    Tensor output_;  // its root
    std::future<void> job_;
};

}  // namespace mini::parallel
