// ReplicatedModule: what every way of data-parallel training across ranks begins with.
//
// Each rank holds a replica of a module and feeds it its own part of the batch. The
// replicas must start alike: their shapes are compared, then rank 0's numbers go to all.
// They stay alike as long as every step changes them alike, which is for the ways to
// average gradients to see to: rungs.hpp, ddp.hpp.

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
    /// The module's result; unless in no_sync, the next backward() averages gradients.
    /// Where gradients are recorded, rank 0's buffers go to all first, except after a
    /// forward within no_sync; evaluation, without them, communicates nothing.
    Tensor forward(const Tensor& x) override;

    /// While the returned object lives, gradients accumulate on each rank without
    /// communication; the first backward() after it, of a forward() after it, averages
    /// the accumulated sum (`no_sync`). It is a sum, not a mean: to train as with one
    /// batch that is k times as large, divide each of the k losses by k. The end of the
    /// object restores what held before: within another no_sync averaging stays off. It
    /// ends in the same way when an exception passes.
    class [[nodiscard]] NoSync {
      public:
        /// Calls `end` when it goes out of scope. It can be neither copied nor moved, so
        /// return it as it is made: `return NoSync(...)`.
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
    /// Compares number and shapes of the parameters across ranks, then copies rank 0's
    /// parameters and buffers to all; blocks until every rank has come here. `group` is
    /// the default one when null. Parameters that do not require grad are left alone by
    /// the averaging, shared ones counted once. Throws Error, the same on all ranks,
    /// naming rank and parameter that differ; UsageError when nothing requires grad.
    /// REQUIRES: `module` outlives this object.
    ReplicatedModule(nn::Module& module, std::shared_ptr<dist::ProcessGroup> group,
                     bool broadcast_buffers);

    /// Called before a forward pass that trains, with what it will communicate; returns
    /// the rank whose buffers go to all.
    virtual int begin_iteration(bool sends_buffers, bool averages) {
        static_cast<void>(sends_buffers);
        static_cast<void>(averages);
        return 0;
    }

    /// Called before a forward pass whose gradients will be averaged, and with its result.
    virtual void prepare_for_forward() {}
    virtual void prepare_for_backward(const Tensor& output) = 0;

    /// Sends rank `root`'s buffers to all; blocks, and every rank calls it.
    void broadcast_buffers(int root);

    /// On a rank that has joined: the others' forward pass was averaged, or within
    /// no_sync. What the next forward pass sends depends on it, on all ranks alike.
    void follow_forward(bool averaged) { are_buffers_due_ = averaged; }

    /// Parameters and buffers of the wrapped module, each once.
    std::vector<Tensor> state() const;

    /// The parameters that require grad, under their names in the wrapped module.
    const nn::NamedTensors& trained() const { return trained_; }
    const std::shared_ptr<dist::ProcessGroup>& shared_group() const { return group_; }

  private:
    nn::Module& module_;
    std::shared_ptr<dist::ProcessGroup> group_;
    nn::NamedTensors trained_;
    bool sends_buffers_;
    bool sync_ = true;              // not within no_sync
    bool are_buffers_due_ = false;  // the last forward was not within no_sync
};

}  // namespace mini::parallel
