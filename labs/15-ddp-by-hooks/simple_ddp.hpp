// simple::DDP: data-parallel training with hooks, in about forty lines.
//
//     DDP(module, group)     sends rank 0's state to all; adds a hook to each parameter
//     loss.backward()        gradient_ready   each hook starts an all-reduce and returns
//                            finish           at the end: waits, and turns the sums into means
//
// Compared with DistributedDataParallel it has one all-reduce per parameter (no buckets),
// it does not check that the ranks' modules are equal, it never sends buffers again, and
// it decides in backward(), not in forward(), whether to average.

#pragma once

#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/replicated_module.hpp"

namespace simple {

class DDP : public mini::nn::Module {
  public:
    /// Gives every rank the parameters and buffers of rank 0 (one `group.broadcast` of each
    /// is enough), and adds exactly one hook to each parameter that requires grad; the hook
    /// calls gradient_ready() with that parameter. Blocks until every rank has called it.
    /// REQUIRES: the same module on all ranks; `module` and `group` outlive this object; which
    /// parameters require grad stays as it is.
    DDP(mini::nn::Module& module, mini::dist::ProcessGroup& group);

    /// Removes the hooks, so that the module can be wrapped again.
    ~DDP() override;

    mini::Tensor forward(const mini::Tensor& x) override { return module_(x); }

    /// While the returned object lives, backward() does not communicate, and gradients
    /// accumulate on each rank; the first backward() after its end averages the
    /// accumulated sums. Its destructor restores the previous mode, so that within another
    /// no_sync averaging stays off. (NoSync is explained in replicated_module.hpp.)
    using NoSync = mini::parallel::ReplicatedModule::NoSync;
    NoSync no_sync();

  private:
    /// Called by the hook of `parameter`, when its gradient is ready. Outside of no_sync
    /// it starts an all-reduce (a sum) of the gradient in place, keeps it in in_flight_,
    /// and returns without waiting. The first call of a backward pass also queues
    /// finish() to be called once at the end of that pass, with mini::queue_callback().
    void gradient_ready(const mini::Tensor& parameter);

    /// Waits for each all-reduce in flight, in the order of their starts, and then
    /// multiplies the sum in place by the float 1 / world size: so the averages have the
    /// bits of average_gradients(). Afterwards in_flight_ is empty. Throws the error of an
    /// all-reduce that failed; this object can then not be used any more.
    void finish();

    struct InFlight {
        mini::Tensor grad;
        mini::dist::WorkHandle work;
    };
    struct Hook {
        mini::Tensor parameter;
        int id = 0;  // for remove_hook()
    };

    mini::nn::Module& module_;
    mini::dist::ProcessGroup& group_;
    std::vector<Hook> hooks_;
    std::vector<InFlight> in_flight_;  // of the running backward pass
    bool sync_ = true;                 // false within no_sync
};

}  // namespace simple
