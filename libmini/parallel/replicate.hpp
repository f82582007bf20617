// Replicas: copies of a module on other devices, for one forward and backward pass each.
//
// A replica computes on a lane's thread, and its graph ends at its own parameters and its
// own chunk. Two nodes represent the replica in the caller's graph:
//
//     parameters ─┐
//                 ├─► [replicate 1] ─► [parallel_apply 1] ─► output 1 ─┐
//     chunk 1 ────┘                                                    ├─► [gather]
//     chunk 0 ────────► the module itself, node by node ───► output 0 ─┘
//
// The autograd engine runs nodes in reverse order of their creation. parallel_apply is
// created after the module's own nodes, so it runs first: it starts the replica's
// backward pass on the lane and does not wait. replicate is created before the module's
// nodes, so it runs last: it waits for the lane and passes the replica's gradients to the
// parameters. In between, the calling thread runs the module's own backward pass, so all
// devices work at the same time.

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

/// Builds another module of the same kind. The values of its parameters do not matter,
/// since each pass replaces these values.
using ModuleFactory = std::function<std::unique_ptr<nn::Module>()>;

/// Waits for `job` and rethrows its exception, with the message prefixed by "Caught Error
/// in replica 1 on device cpu:1. ". ShapeError and UsageError keep their type; all other
/// exceptions become Error.
void finish(std::future<void>& job, size_t replica, Device device);

/// A copy of a module on a device. Building a copy runs the module's initialisers, so a
/// copy is reused, by one pass at a time; each pass copies the module's values again.
struct Replica {
    /// Builds the copy on the lane's thread, so that the initialisers do not draw from
    /// the caller's generator. Throws Error naming the first parameter or buffer that
    /// differs from `original` in name, shape or dtype.
    Replica(size_t index, std::shared_ptr<Lane> lane, const ModuleFactory& make,
            const nn::Module& original);

    size_t index;  // among the devices
    std::shared_ptr<Lane> lane;
    std::unique_ptr<nn::Module> module;
    std::vector<Tensor> parameters;
    std::vector<Tensor> buffers;
    std::atomic<bool> in_use = false;
};

/// One forward pass of a replica, and the backward passes through its graph. Each
/// start_... function posts a job to the lane; the finish_... function of the same name
/// waits for this job and rethrows its exception.
class ReplicaPass : public std::enable_shared_from_this<ReplicaPass> {
  public:
    /// `home` is the module's device. REQUIRES: no other pass uses the replica.
    ReplicaPass(std::shared_ptr<Replica> replica, Device home, SharedStats stats);

    /// Waits for the lane, then marks the replica as free.
    ~ReplicaPass();

    /// Copies from `original` the parameters, the buffers, the requires_grad flags of the
    /// parameters, and the training mode of each submodule. REQUIRES: `original` does not
    /// change until finish_replicate() has returned.
    void start_replicate(nn::Module& original);

    /// Sets the input of the forward pass to `chunk`. Returns the result of the node
    /// "replicate", a tensor without elements that represents the replica in the caller's
    /// graph. REQUIRES: `chunk` is on the replica's device.
    Tensor finish_replicate(const nn::Module& original, const Tensor& chunk);

    /// Runs the forward pass, with random numbers from a copy of `generator`.
    void start_forward(const Generator& generator);

    /// Waits for the job without throwing, so that the caller can wait for the jobs of
    /// all replicas before it handles an error.
    void wait() const;

    /// Returns the replica's output, recorded in the caller's graph as computed from
    /// `replicated`.
    Tensor finish_forward(const Tensor& replicated);

  private:
    void start_backward(const Tensor& gradient);
    Grads finish_backward();

    std::shared_ptr<Replica> replica_;
    Device home_;
    SharedStats stats_;
    Tensor chunk_;   // a leaf of the replica's graph
    Tensor output_;  // the root of the replica's graph
    std::future<void> job_;
};

}  // namespace mini::parallel
