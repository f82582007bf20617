// Loss scaling: the gradients of float16 are multiplied by a large number, so that small
// ones do not become 0.
//
//     loss -- scale() --> loss * S -- backward --> g * S -- unscale_() --> g
//                                                    |
//                       inf or NaN on any rank? -----+--> all ranks skip the step
//
//     update()     S is too large, if there was inf or NaN: S / 2
//                  2000 steps without one: S * 2
//
//     lab22::GradScaler scaler;
//     scaler.scale(cross_entropy(model(x), y)).backward();
//     scaler.unscale_(optimizer);      only if something reads the gradients, e.g. clipping
//     scaler.step(optimizer);
//     scaler.update();
//
// Micikevicius et al. 2018, Mixed Precision Training, section 3.2.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/optim/optimizer.hpp"

namespace mini::lab22 {

struct GradScalerOptions {
    double init_scale = 65536.0;
    double growth_factor = 2.0;
    double backoff_factor = 0.5;
    int64_t growth_interval = 2000;

    // The ranks that skip a step together. Null: this rank decides alone, which is right
    // if all ranks have the same gradients, as after a backward pass with DDP.
    std::shared_ptr<dist::ProcessGroup> process_group = nullptr;
};

/// `torch.amp.GradScaler`; with a process group,
/// `torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler`.
class GradScaler {
  public:
    /// Throws UsageError unless init_scale is a normal positive float (1.2e-38 to 3.4e38),
    /// growth_factor above 1, backoff_factor above 0 and below 1, and growth_interval at
    /// least 1.
    explicit GradScaler(const GradScalerOptions& options = {});

    /// Returns loss * get_scale(), recorded for the backward pass.
    Tensor scale(const Tensor& loss) const;

    /// Multiplies the gradients of the optimizer's parameters by 1 / get_scale(), in
    /// place, even if one has inf, and notes whether an element was inf or NaN, on this
    /// rank or, with a process group, on any of its ranks, which must all call it: one
    /// all-reduce of one number, even if this rank has no gradients. Throws Error if
    /// unscale_ or step was called for this optimizer since the last update().
    void unscale_(optim::Optimizer& optimizer);

    /// Calls unscale_(optimizer) if that was not done since the last update(). Then calls
    /// optimizer.step() and returns true, unless inf or NaN was noted for this optimizer:
    /// then returns false, and parameters and optimizer are unchanged. Throws Error if it
    /// was called for this optimizer since the last update().
    bool step(optim::Optimizer& optimizer);

    /// Ends the step of all optimizers. If inf or NaN was noted for one of them since the
    /// last update(), multiplies the scale by backoff_factor; after growth_interval updates
    /// in a row without one, by growth_factor, unless the product is not finite as a float.
    /// Throws Error if unscale_ was not called for any optimizer since the last update().
    void update();

    /// Returns the factor of scale().
    double get_scale() const;

    /// Returns the numbers "scale", "growth_factor", "backoff_factor", "growth_interval" and
    /// "_growth_tracker": the updates in a row without inf or NaN (`GradScaler.state_dict`).
    optim::OptimizerState state_dict() const;

    /// Restores them. Throws UsageError if a number is missing, if there is any other entry,
    /// or if the constructor would throw; this object is then unchanged.
    void load_state_dict(const optim::OptimizerState& state);

  private:
    struct Impl;  // grad_scaler.cpp defines it
    std::shared_ptr<Impl> impl_;
};

}  // namespace mini::lab22
