// ReplicatedModule: the base class of all data-parallel modules across ranks.
//
// Each rank holds a replica of a module, and trains this replica on the rank's own part
// of each batch. The replicas must start identical: the constructor compares their
// shapes, then broadcasts rank 0's values. The replicas stay identical if every step
// changes all replicas in the same way; so the derived classes (averaging_modules.hpp,
// ddp.hpp) average the gradients.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/wrapped_parameters.hpp"

namespace mini::parallel {

class ReplicatedModule : public nn::Module {
  public:
    /// Returns the module's result for `x`. Under NoGradGuard (evaluation), only runs the
    /// module. Otherwise (training), prepares the next backward(), which averages gradients
    /// unless forward() was called within no_sync:
    ///
    /// - begin_iteration() is called in each pass, before any communication, and decides
    ///   whose buffers are broadcast.
    /// - Buffers are broadcast if the module has some to send, and the previous forward() in
    ///   training was outside of no_sync. So the first pass sends none: the constructor has.
    /// - Outside of no_sync, prepare_for_forward() comes after the buffers and before the
    ///   module runs, and prepare_for_backward() gets the module's result.
    ///
    /// In training, throws Error if a parameter was replaced, added, moved, or began to
    /// require grad since the module was wrapped (see WrappedParameters). A parameter may
    /// be frozen and thawed: while it is frozen, it counts as unused. backward() through a
    /// result of forward() outside of no_sync throws Error if it would not average: a
    /// second time with retain_graph, or after another backward() has averaged.
    Tensor forward(const Tensor& x) override;

    /// While a NoSync object exists, gradients accumulate on each rank without
    /// communication. The first backward() whose forward() comes after the object's
    /// destruction averages the accumulated gradients (`no_sync`). Accumulated gradients
    /// are sums, not means: to train as with one batch that is k times as large, divide
    /// each of the k losses by k. The destructor restores the previous mode, also when an
    /// exception leaves the scope; so within another no_sync averaging stays off.
    class [[nodiscard]] NoSync {
      public:
        /// The destructor calls `end`. A NoSync can be neither copied nor moved, so a
        /// function returns it directly: `return NoSync(...)`.
        explicit NoSync(std::function<void()> end) : end_(std::move(end)) {}
        ~NoSync() { end_(); }
        NoSync(const NoSync&) = delete;
        NoSync& operator=(const NoSync&) = delete;

      private:
        std::function<void()> end_;
    };

    /// Switches averaging off until the returned object is destroyed. REQUIRES: that
    /// object is destroyed before this module.
    NoSync no_sync();

    dist::ProcessGroup& group() const { return *group_; }

  protected:
    /// Compares the number, names and shapes of the parameters and buffers across ranks,
    /// then broadcasts rank 0's parameters and buffers; blocks until every rank has called
    /// this constructor. A null `group` means the default group. Parameters that do not
    /// require grad are broadcast, but not averaged; a shared parameter counts once.
    /// Throws Error, on all ranks, naming the rank and the parameter that differ; throws
    /// UsageError when no parameter requires grad, or when one of them is a parameter of
    /// another wrapper. REQUIRES: `module` outlives this object.
    ReplicatedModule(nn::Module& module, std::shared_ptr<dist::ProcessGroup> group,
                     bool broadcast_buffers);

    /// Called before each forward pass in training. `sends_buffers` is true if this pass
    /// will broadcast buffers, `averages` if its backward() will average gradients.
    /// Returns the root of the broadcast of the buffers.
    virtual int begin_iteration(bool sends_buffers, bool averages) {
        static_cast<void>(sends_buffers);
        static_cast<void>(averages);
        return 0;
    }

    /// Called before a forward pass whose gradients will be averaged.
    virtual void prepare_for_forward() {}

    /// Called after a forward pass whose gradients will be averaged, with its result.
    virtual void prepare_for_backward(const Tensor& output) = 0;

    /// Returns whether a backward pass, running or next, averages gradients: true from
    /// prepare_for_backward() to the end of that pass.
    virtual bool averages_next() const { return true; }

    /// Broadcasts rank `root`'s buffers; blocks until done. Every rank must call it.
    void broadcast_buffers(int root);

    /// Called on a joined rank for each forward pass of the active ranks; `averaged` is
    /// false if the active ranks' pass is within no_sync. All ranks, joined ranks
    /// included, must know `averaged`, because it decides whether the next forward pass
    /// broadcasts buffers.
    void follow_forward(bool averaged) { are_buffers_due_ = averaged; }

    /// Returns the parameters and buffers of the wrapped module, each tensor once.
    std::vector<Tensor> state() const;

    /// Returns the parameters that require grad, with their names in the wrapped module.
    const nn::NamedTensors& trained() const { return parameters_.trained(); }

  private:
    /// Runs the wrapped module. In training, records kForwardBegin and kForwardEnd in the
    /// event log.
    Tensor run_module(const Tensor& x);

    /// Returns `output`, with a node that checks averages_next() in each backward pass.
    Tensor checked_in_backward(const Tensor& output);

    nn::Module& module_;
    std::shared_ptr<dist::ProcessGroup> group_;
    WrappedParameters parameters_;
    std::shared_ptr<ReplicatedModule*> self_;  // for graphs that outlive this object
    bool sends_buffers_;            // broadcast_buffers is set, the module has buffers
    bool sync_ = true;              // false within no_sync
    bool are_buffers_due_ = false;  // the last forward() was outside of no_sync
};

}  // namespace mini::parallel
