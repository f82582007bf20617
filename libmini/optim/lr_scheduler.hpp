// Learning-rate schedulers: they change an optimizer's lr from epoch to epoch
// (`torch.optim.lr_scheduler`).
//
//     scheduler made      epoch 0's rate is set
//     train epoch 0
//     scheduler.step()    epoch 1's rate is set
//     train epoch 1 ...
//
//     StepLR     ----____....       LinearLR   _/------       CosineAnnealingLR  --\_
//
// Each derives the next rate from the present one, as PyTorch does, not from the epoch
// alone: so several can share one optimizer, and rates equal PyTorch's to the last bit.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libmini/optim/optimizer.hpp"

namespace mini::optim {

/// What all schedulers are. To resume, make the optimizer and the scheduler as at first,
/// then load both states, the optimizer's last, since making a scheduler sets the rate.
class LRScheduler {
  public:
    virtual ~LRScheduler() = default;
    LRScheduler(const LRScheduler&) = delete;
    LRScheduler& operator=(const LRScheduler&) = delete;

    /// Sets the rate of the next epoch; to be called after each (`LRScheduler.step`).
    virtual void step();

    /// The epoch whose rate is set, counted from 0.
    int64_t last_epoch() const { return last_epoch_; }

    /// The rate last set.
    double get_last_lr() const { return last_lr_; }

    /// last_epoch, last_lr and base_lr: all but the arguments of the constructor.
    /// optim::exact_text writes them into a checkpoint.
    virtual std::map<std::string, double> state_dict() const;

    /// Goes on from there; the optimizer's rate stays as it is. Throws UsageError, and
    /// changes nothing, when a name is missing.
    virtual void load_state_dict(const std::map<std::string, double>& state);

  protected:
    /// REQUIRES: `optimizer` outlives this; the constructor of the child calls start().
    explicit LRScheduler(Optimizer& optimizer);

    void start();

    /// The rate of epoch 0 from the present one; of a later epoch from that of the epoch
    /// before; and of epoch 0 from base_lr(), whatever the present one.
    virtual double first_lr() const { return optimizer_.lr(); }
    virtual double next_lr() const = 0;
    virtual double restart_lr() const { return base_lr_; }

    double lr() const { return optimizer_.lr(); }
    double base_lr() const { return base_lr_; }

  private:
    friend class SequentialLR;
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

/// Goes down to eta_min in T_max epochs along half a cosine, then up again
/// (`CosineAnnealingLR`). Throws UsageError unless T_max is 1 or more.
class CosineAnnealingLR : public LRScheduler {
  public:
    CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0.0);

  protected:
    double next_lr() const override;
    double restart_lr() const override;

  private:
    int64_t T_max_;
    double eta_min_;
};

struct LinearLROptions {
    double start_factor = 1.0 / 3;
    double end_factor = 1.0;
    int64_t total_iters = 5;
};

/// Multiplies the rate by a factor that goes from start_factor to end_factor in
/// total_iters epochs, and stays there (`LinearLR`). Throws UsageError unless
/// 0 < start_factor <= 1, 0 <= end_factor <= 1 and total_iters is 1 or more.
class LinearLR : public LRScheduler {
  public:
    explicit LinearLR(Optimizer& optimizer, LinearLROptions options = {});

  protected:
    double first_lr() const override;
    double next_lr() const override;
    double restart_lr() const override;

  private:
    LinearLROptions options_;
};

/// Its usual use: small steps first, while the gradients of a new model are wild.
using LinearWarmup = LinearLR;

/// One scheduler after the other: the k-th takes over, from base_lr, at epoch
/// milestones[k - 1] (`SequentialLR`). Throws UsageError unless there is one scheduler
/// more than milestones, these rise from above 0, and all have this optimizer.
class SequentialLR : public LRScheduler {
  public:
    SequentialLR(Optimizer& optimizer,
                 std::vector<std::shared_ptr<LRScheduler>> schedulers,
                 std::vector<int64_t> milestones);

    void step() override;

    /// Its own, and those of its schedulers as "0.last_epoch", ...
    std::map<std::string, double> state_dict() const override;
    void load_state_dict(const std::map<std::string, double>& state) override;

  protected:
    double next_lr() const override;

  private:
    std::vector<std::shared_ptr<LRScheduler>> schedulers_;
    std::vector<int64_t> milestones_;
};

}  // namespace mini::optim
