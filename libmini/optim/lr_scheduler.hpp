// Learning-rate schedulers: change the learning rate of an optimizer from epoch to epoch
// (`torch.optim.lr_scheduler`).
//
//     constructor         sets the rate of epoch 0
//     train epoch 0
//     scheduler.step()    sets the rate of epoch 1
//     train epoch 1 ...
//
//     StepLR     ----____....       LinearLR   _/------       CosineAnnealingLR  --\_
//
// Each scheduler computes the next rate from the current rate, as PyTorch does, not from
// the epoch alone. So several schedulers can share one optimizer, and the rates are
// bitwise identical to PyTorch's; the rates of CosineAnnealingLR may differ in the last
// bits, because C libraries round the cosine differently.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "libmini/optim/optimizer.hpp"

namespace mini::optim {

/// The base class of all schedulers. To resume, construct the optimizer and the scheduler
/// as in the first run, then load both states. Load the optimizer's state after
/// constructing the scheduler, since the scheduler's constructor sets the rate.
class LRScheduler {
  public:
    virtual ~LRScheduler() = default;
    LRScheduler(const LRScheduler&) = delete;
    LRScheduler& operator=(const LRScheduler&) = delete;

    /// Sets the rate of the next epoch (`LRScheduler.step`). Call step() after every
    /// epoch.
    void step();

    /// Returns the epoch of the current rate, counted from 0.
    int64_t last_epoch() const { return last_epoch_; }

    /// Returns the rate that this scheduler set last.
    double get_last_lr() const { return last_lr_; }

    /// Returns last_epoch, last_lr and base_lr: the whole state except the constructor's
    /// arguments. Use optim::exact_text to write these numbers into a checkpoint.
    std::map<std::string, double> state_dict() const;

    /// Restores the state; does not change the optimizer's rate. Throws UsageError,
    /// without any change, when a name is missing or last_epoch is no count of epochs.
    void load_state_dict(const std::map<std::string, double>& state);

  protected:
    /// REQUIRES: `optimizer` outlives this object; the constructor of each derived class
    /// calls start().
    explicit LRScheduler(Optimizer& optimizer);

    /// Sets the rate of epoch 0 to first_lr().
    void start();

    /// Returns the rate of epoch 0, computed from the optimizer's current rate.
    virtual double first_lr() const { return optimizer_.lr(); }

    /// Returns the rate of epoch last_epoch() > 0, computed from the rate of the epoch
    /// before.
    virtual double next_lr() const = 0;

    double lr() const { return optimizer_.lr(); }
    double base_lr() const { return base_lr_; }

  private:
    void set(int64_t epoch, double lr);

    Optimizer& optimizer_;
    double base_lr_;
    double last_lr_;
    int64_t last_epoch_ = -1;
};

/// Multiplies the rate by gamma every step_size epochs (`StepLR`). Throws UsageError
/// unless step_size is 1 or more.
class StepLR : public LRScheduler {
  public:
    StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);

  protected:
    double next_lr() const override;

  private:
    int64_t step_size_;
    double gamma_;
};

/// Decreases the rate to eta_min in T_max epochs, along half a period of a cosine, then
/// increases the rate again (`CosineAnnealingLR`). Throws UsageError unless T_max is 1 or
/// more.
class CosineAnnealingLR : public LRScheduler {
  public:
    CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0.0);

  protected:
    double next_lr() const override;

  private:
    int64_t T_max_;
    double eta_min_;
};

struct LinearLROptions {
    double start_factor = 1.0 / 3;
    double end_factor = 1.0;
    int64_t total_iters = 5;
};

/// Multiplies the initial rate by a factor that changes linearly from start_factor to
/// end_factor in total_iters epochs, and then stays constant (`LinearLR`). Throws
/// UsageError unless 0 < start_factor <= 1, 0 <= end_factor <= 1 and total_iters is 1 or
/// more.
class LinearLR : public LRScheduler {
  public:
    explicit LinearLR(Optimizer& optimizer, LinearLROptions options = {});

  protected:
    double first_lr() const override;
    double next_lr() const override;

  private:
    LinearLROptions options_;
};

}  // namespace mini::optim
