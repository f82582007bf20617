#include "libmini/optim/lr_scheduler.hpp"

#include <cmath>
#include <numbers>

namespace mini::optim {
namespace {

using Numbers = std::map<std::string, double>;

template <typename... Parts>
void check_usage(bool condition, const Parts&... parts) {
    if (!condition) throw UsageError(parts...);
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer)
    : optimizer_(optimizer), base_lr_(optimizer.initial_lr()), last_lr_(optimizer.lr()) {}

void LRScheduler::set(int64_t epoch, double lr) {
    last_epoch_ = epoch;
    last_lr_ = lr;
    optimizer_.set_lr(lr);
}

void LRScheduler::start() { set(0, first_lr()); }

void LRScheduler::step() {
    ++last_epoch_;
    set(last_epoch_, next_lr());
}

Numbers LRScheduler::state_dict() const {
    return {{"base_lr", base_lr_},
            {"last_epoch", static_cast<double>(last_epoch_)},
            {"last_lr", last_lr_}};
}

void LRScheduler::load_state_dict(const Numbers& state) {
    for (const auto& [name, number] : state_dict())
        check_usage(state.contains(name), "lr_scheduler: the state has no ", name);
    const double epoch = state.at("last_epoch");
    check_usage(epoch >= 0 && epoch < 0x1p53 && epoch == std::floor(epoch),
                "lr_scheduler: last_epoch is ", epoch, ", not a count of epochs");
    base_lr_ = state.at("base_lr");
    last_epoch_ = static_cast<int64_t>(epoch);
    last_lr_ = state.at("last_lr");
}

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
    check_usage(step_size >= 1, "StepLR: step_size is ", step_size, ", not 1 or more");
    start();
}

double StepLR::next_lr() const {
    return last_epoch() % step_size_ == 0 ? lr() * gamma_ : lr();
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min)
    : LRScheduler(optimizer), T_max_(T_max), eta_min_(eta_min) {
    check_usage(T_max >= 1, "CosineAnnealingLR: T_max is ", T_max, ", not 1 or more");
    start();
}

double CosineAnnealingLR::next_lr() const {
    constexpr double pi = std::numbers::pi;
    const auto T = static_cast<double>(T_max_);
    const auto epoch = static_cast<double>(last_epoch());

    // One epoch after the minimum, the formula below would divide by 0.
    if ((last_epoch() - 1 - T_max_) % (2 * T_max_) == 0)
        return lr() + (base_lr() - eta_min_) * (1 - std::cos(pi / T)) / 2;
    return (1 + std::cos(pi * epoch / T)) / (1 + std::cos(pi * (epoch - 1) / T)) *
               (lr() - eta_min_) +
           eta_min_;
}

LinearLR::LinearLR(Optimizer& optimizer, LinearLROptions options)
    : LRScheduler(optimizer), options_(options) {
    check_usage(options.start_factor > 0 && options.start_factor <= 1,
                "LinearLR: start_factor is ", options.start_factor, ", not in (0, 1]");
    check_usage(options.end_factor >= 0 && options.end_factor <= 1,
                "LinearLR: end_factor is ", options.end_factor, ", not in [0, 1]");
    check_usage(options.total_iters >= 1, "LinearLR: total_iters is ",
                options.total_iters, ", not 1 or more");
    start();
}

double LinearLR::first_lr() const { return lr() * options_.start_factor; }

double LinearLR::next_lr() const {
    if (last_epoch() > options_.total_iters) return lr();
    const double rise = options_.end_factor - options_.start_factor;
    const double before =
        static_cast<double>(options_.total_iters) * options_.start_factor +
        static_cast<double>(last_epoch() - 1) * rise;
    return lr() * (1.0 + rise / before);
}

}  // namespace mini::optim
