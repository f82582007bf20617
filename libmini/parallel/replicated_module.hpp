// ReplicatedModule: the base class of all data-parallel modules across ranks.
//
// Each rank holds a replica of a module and feeds it its own part of the batch. The
// replicas must start identical: their shapes are compared, then rank 0's values are
// broadcast. They stay identical while every step changes all of them in the same way;
// the derived classes in averaging_modules.hpp and ddp.hpp average the gradients to ensure this.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::parallel {

class ReplicatedModule : public nn::Module {
  public:
    /// Returns the module's result for `x`. Under NoGradGuard (evaluation) it only runs the
    /// module. Otherwise, in training, it decides whether the next backward() averages gradients, which
    /// it does outside of no_sync, and calls in this order:
    ///
    ///     begin_iteration         always
    ///     broadcast_buffers       if buffers are due, from the rank that the call before
    ///                             has returned
    ///     prepare_for_forward     outside of no_sync
    ///     run_module              always
    ///     prepare_for_backward    outside of no_sync
    ///
    /// Buffers are due if the module sends buffers (sends_buffers_) and the last forward() in
    /// training was outside of no_sync (are_buffers_due_). Each one reads are_buffers_due_,
    /// and then sets it to sync_, true or false, for the next. At the first they are not
    /// due: the constructor has just sent them.
    Tensor forward(const Tensor& x) override;

    /// While an object of it lives, gradients accumulate on each rank without
    /// communication; the first backward() of a forward() after its end averages the
    /// accumulated sum (`no_sync`). It is a sum, not a mean: to train as with one batch
    /// that is k times as large, divide each of the k losses by k. The destructor
    /// restores the previous mode: within another no_sync averaging stays off. This also
    /// holds when an exception leaves the scope.
    class [[nodiscard]] NoSync {
      public:
        /// Calls `end` when it goes out of scope. It can be neither copied nor moved, so
        /// return it directly: `return NoSync(...)`.
        explicit NoSync(std::function<void()> end) : end_(std::move(end)) {}
        ~NoSync() { end_(); }
        NoSync(const NoSync&) = delete;
        NoSync& operator=(const NoSync&) = delete;

      private:
        std::function<void()> end_;
    };
    NoSync no_sync();

    dist::ProcessGroup& group() const { return *group_; }

  protected:
    /// Compares the number and shapes of the parameters across ranks, then broadcasts
    /// rank 0's parameters and buffers; blocks until every rank has called it. A null
    /// `group` means the default group. Parameters that do not require grad are not
    /// averaged; a shared parameter counts once. Throws Error, the same on all ranks,
    /// naming the rank and the parameter that differ; throws UsageError when no parameter
    /// requires grad. REQUIRES: `module` outlives this object.
    ReplicatedModule(nn::Module& module, std::shared_ptr<dist::ProcessGroup> group,
                     bool broadcast_buffers);

    /// Called before a forward pass that records gradients: `sends_buffers` if it will
    /// broadcast buffers, `averages` if its backward() will average gradients. Returns
    /// the rank that broadcasts its buffers.
    virtual int begin_iteration(bool sends_buffers, bool averages) {
        static_cast<void>(sends_buffers);
        static_cast<void>(averages);
        return 0;
    }

    /// Called before a forward pass whose gradients will be averaged.
    virtual void prepare_for_forward() {}

    /// Called after such a forward pass, with its result.
    virtual void prepare_for_backward(const Tensor& output) = 0;

    /// Broadcasts rank `root`'s buffers; blocks, and every rank must call it.
    void broadcast_buffers(int root);

    /// Called on a joined rank after a forward pass of the other ranks; `averaged` is
    /// false if that pass was within no_sync. It decides whether the next forward pass
    /// broadcasts buffers, so it must be known on all ranks.
    void follow_forward(bool averaged) { are_buffers_due_ = averaged; }

    /// The parameters and buffers of the wrapped module, each once.
    std::vector<Tensor> state() const;

    /// The parameters that require grad, under their names in the wrapped module.
    const nn::NamedTensors& trained() const { return trained_; }
    const std::shared_ptr<dist::ProcessGroup>& shared_group() const { return group_; }

  private:
    /// Runs the wrapped module; records the begin and the end when gradients are recorded.
    Tensor run_module(const Tensor& x);

    nn::Module& module_;
    std::shared_ptr<dist::ProcessGroup> group_;
    nn::NamedTensors trained_;
    bool sends_buffers_;            // the module has buffers, and they are to be sent
    bool sync_ = true;              // false within no_sync
    bool are_buffers_due_ = false;  // the last forward was not within no_sync
};

}  // namespace mini::parallel
