#include "labs/22-memory-and-precision/grad_scaler.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

// [lab22 file]
namespace mini::lab22 {
namespace {

void check(const GradScalerOptions& options) {
    // [lab22.4] Throw unless each number is in its range.
    using Float = std::numeric_limits<float>;
    if (!(options.init_scale >= Float::min() && options.init_scale <= Float::max() &&
          options.growth_factor > 1 && options.backoff_factor > 0 &&
          options.backoff_factor < 1 && options.growth_interval >= 1))
        throw UsageError("GradScaler: init_scale ", options.init_scale,
                         ", growth_factor ", options.growth_factor, ", backoff_factor ",
                         options.backoff_factor, " or growth_interval ",
                         options.growth_interval, " is out of its range");
    // [lab22.4]
}

// What has been done for an optimizer since the last update().
struct Progress {
    bool is_unscaled = false, has_stepped = false;
    bool found_inf = false;  // inf or NaN, on any rank of the group
};

}  // namespace

struct GradScaler::Impl {
    GradScalerOptions options;
    float scale = 0;
    int64_t growth_tracker = 0;  // updates in a row without inf or NaN
    std::map<const optim::Optimizer*, Progress> progress = {};
};

namespace {

// Multiplies the gradients by `factor`; returns whether one has inf or NaN.
bool multiply(const std::vector<Tensor>& parameters, float factor) {
    bool found = false;
    // [lab22.4] Look for inf and NaN in each gradient that there is, and multiply it.
    for (const Tensor& parameter : parameters) {
        Tensor gradient = parameter.grad();
        if (!gradient.defined()) continue;
        // inf - inf and NaN - NaN are NaN, any other difference of equals is 0.
        const Tensor zeros = ops::sub(gradient, gradient);
        found = found || ops::sum(zeros).item() != 0;
        ops::mul_(gradient, factor);
    }
    // [lab22.4]
    return found;
}

// Returns whether `found` is true on one of the ranks.
bool on_any_rank(bool found, dist::ProcessGroup& group) {
    // [lab22.5] Let the ranks agree.
    const Tensor any = Tensor::scalar(found ? 1.0f : 0.0f);
    group.all_reduce(any, dist::ReduceOp::kMax);
    return any.item() != 0;
    // [lab22.5]
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options)
    : impl_(
          new Impl{.options = options, .scale = static_cast<float>(options.init_scale)}) {
    check(options);
}

double GradScaler::get_scale() const { return impl_->scale; }

Tensor GradScaler::scale(const Tensor& loss) const {
    // [lab22.4] Multiply, so that backward multiplies too.
    return loss * impl_->scale;
    // [lab22.4]
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
    Progress& progress = impl_->progress[&optimizer];
    MINI_CHECK(!progress.has_stepped,
               "GradScaler: unscale_ after step(); call update() in between");
    MINI_CHECK(!progress.is_unscaled,
               "GradScaler: unscale_ twice; call update() after each step");
    progress.is_unscaled = true;
    progress.found_inf =
        multiply(optimizer.parameters(), static_cast<float>(1.0 / impl_->scale));
    if (impl_->options.process_group)
        progress.found_inf =
            on_any_rank(progress.found_inf, *impl_->options.process_group);
}

bool GradScaler::step(optim::Optimizer& optimizer) {
    // [lab22.5] Unscale if that is still to do; step unless a gradient had inf or NaN.
    Progress& progress = impl_->progress[&optimizer];
    MINI_CHECK(!progress.has_stepped,
               "GradScaler: step() twice; call update() after each step");
    if (!progress.is_unscaled) unscale_(optimizer);
    progress.has_stepped = true;
    if (!progress.found_inf) optimizer.step();
    return !progress.found_inf;
    // [lab22.5]
}

void GradScaler::update() {
    Impl& now = *impl_;
    // [lab22.5] Lower the scale, count the step, or raise the scale; begin again.
    bool is_unscaled = false, found_inf = false;
    for (const auto& [optimizer, progress] : now.progress) {
        is_unscaled = is_unscaled || progress.is_unscaled;
        found_inf = found_inf || progress.found_inf;
    }
    MINI_CHECK(is_unscaled, "GradScaler: update() without a step() or unscale_() before");
    now.progress.clear();
    if (found_inf) {
        now.scale *= static_cast<float>(now.options.backoff_factor);
        now.growth_tracker = 0;
    } else if (++now.growth_tracker == now.options.growth_interval) {
        const float grown = now.scale * static_cast<float>(now.options.growth_factor);
        if (std::isfinite(grown)) now.scale = grown;
        now.growth_tracker = 0;
    }
    // [lab22.5]
}

optim::OptimizerState GradScaler::state_dict() const {
    const GradScalerOptions& options = impl_->options;
    return {.tensors = {},
            .numbers = {{"scale", impl_->scale},
                        {"growth_factor", options.growth_factor},
                        {"backoff_factor", options.backoff_factor},
                        {"growth_interval", static_cast<double>(options.growth_interval)},
                        {"_growth_tracker", static_cast<double>(impl_->growth_tracker)}}};
}

void GradScaler::load_state_dict(const optim::OptimizerState& state) {
    // [lab22.4] Read all numbers, then check them, and only then change this object.
    const std::vector<Tensor> none;
    optim::StateReader reader("GradScaler", state, none);
    GradScalerOptions options = impl_->options;
    options.init_scale = reader.number("scale");
    options.growth_factor = reader.number("growth_factor");
    options.backoff_factor = reader.number("backoff_factor");
    options.growth_interval = static_cast<int64_t>(reader.number("growth_interval"));
    const double tracker = reader.number("_growth_tracker");
    reader.finish();
    check(options);
    impl_->options = options;
    impl_->scale = static_cast<float>(options.init_scale);
    impl_->growth_tracker = static_cast<int64_t>(tracker);
    // [lab22.4]
}

}  // namespace mini::lab22
// [lab22 file]
