// simple::DDP: data-parallel training with hooks, in about forty lines.
//
//     DDP(module, group)     sends rank 0's state to all; adds a hook to each parameter
//     loss.backward()        gradient_ready   each hook starts an all-reduce and returns
//                            finish           at the end: waits, and computes the means
//
// DistributedDataParallel differs in four points: it calls one all-reduce per bucket, not
// per parameter; it compares the modules of the ranks; it also sends buffers in later
// forward passes; and it decides in forward(), not in backward(), whether to average.

#pragma once

#include <memory>
#include <vector>

#include "libmini/autograd/node.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/replicated_module.hpp"
#include "libmini/parallel/wrapped_parameters.hpp"

namespace simple {

class DDP : public mini::nn::Module {
  public:
    /// Gives every rank the parameters and buffers of rank 0, by one `group.broadcast` of
    /// each, and adds exactly one hook to each parameter that requires grad; the hook
    /// calls gradient_ready() with that parameter. Blocks until every rank has called
    /// this constructor. Throws UsageError if another wrapper averages a parameter of
    /// `module`. REQUIRES: the same module on all ranks; `module` and `group` outlive this
    /// object.
    DDP(mini::nn::Module& module, mini::dist::ProcessGroup& group);

    /// Removes the hooks, so that the module can be wrapped again; also the hooks of
    /// parameters that were frozen since. Throws nothing.
    ~DDP() override;

    /// Runs the module. Throws Error if one of its parameters was replaced since.
    mini::Tensor forward(const mini::Tensor& x) override {
        parameters_.check_unchanged(group_.rank());
        return module_(x);
    }

    /// Disables averaging until the returned object is destroyed: backward() does not
    /// communicate, and gradients accumulate on each rank. The first backward() after
    /// that averages the accumulated sums. The destructor restores the previous mode, so
    /// within an outer no_sync averaging stays disabled. For NoSync see
    /// replicated_module.hpp.
    using NoSync = mini::parallel::ReplicatedModule::NoSync;
    NoSync no_sync();

  private:
    /// Called by the hook of `parameter` when the gradient is ready. Outside of no_sync,
    /// starts an all-reduce (a sum) of the gradient in place, appends the gradient and
    /// its Work to in_flight_, and returns without waiting. The first call in a backward
    /// pass also queues finish(), by mini::queue_callback(), to be called once at the end
    /// of that pass.
    void gradient_ready(const mini::Tensor& parameter);

    /// Waits for each all-reduce in flight, in the order of their starts, and then
    /// multiplies the sum in place by the float 1 / world size, so the averages are
    /// bitwise identical to those of average_gradients(). Afterwards in_flight_ is empty.
    /// Throws the error of a failed all-reduce; after that this object cannot be used.
    void finish();

    struct InFlight {
        mini::Tensor grad;
        mini::dist::WorkHandle work;
    };
    struct Hook {
        std::shared_ptr<mini::AccumulateGrad> accumulator;  // the parameter's
        int id = 0;                                         // for remove_hook()
    };

    mini::nn::Module& module_;
    mini::dist::ProcessGroup& group_;
    mini::parallel::WrappedParameters parameters_;
    std::vector<Hook> hooks_;
    std::vector<InFlight> in_flight_;  // of the running backward pass
    bool sync_ = true;                 // false within no_sync
};

}  // namespace simple
