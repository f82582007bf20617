// --- end-at-the-first-gradient
// The end is called at the first gradient instead of being queued.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    on_gradient(index);
    if (!has_gradient_) end_backward();

// --- end-at-the-parameter-0
// The gradient of parameter 0 is taken for the last one.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    on_gradient(index);
    if (index == 0) end_backward();

// --- end-queued-by-every-gradient
// Every gradient queues the end, which comes once per parameter.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    queue_callback([this] { end_backward(); });
    has_gradient_ = true;
    on_gradient(index);

// --- every-pass-averages
// Passes without a forward of the wrapper are reported too.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!has_gradient_) queue_callback([this] { end_backward(); });
    has_gradient_ = true;
    on_gradient(index);

// --- first-gradient-not-reported
// The first gradient of a pass queues the end and is not reported itself.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    if (!has_gradient_) {
        has_gradient_ = true;
        queue_callback([this] { end_backward(); });
        return;
    }
    on_gradient(index);

// --- first-parameter-without-a-hook
// The first parameter, whose gradient is ready last, has no hook.
// region: libmini/parallel/averaging_modules.cpp 1
    for (size_t index = 1; index < trained().size(); ++index) {
        const Tensor& parameter = trained()[index].second;
        hooks_.push_back(grad_accumulator(parameter)->add_hook(
            [this, index](const Tensor&) { gradient_ready(index); }));
    }

// --- hooks-twice
// Two hooks on each parameter.
// region: libmini/parallel/averaging_modules.cpp 1
    for (int time = 0; time < 2; ++time)
        for (size_t index = 0; index < trained().size(); ++index) {
            const Tensor& parameter = trained()[index].second;
            hooks_.push_back(grad_accumulator(parameter)->add_hook(
                [this, index](const Tensor&) { gradient_ready(index); }));
        }

// --- ids-not-kept
// The ids are thrown away, so the destructor removes no hook.
// region: libmini/parallel/averaging_modules.cpp 1
    for (size_t index = 0; index < trained().size(); ++index) {
        const Tensor& parameter = trained()[index].second;
        grad_accumulator(parameter)->add_hook(
            [this, index](const Tensor&) { gradient_ready(index); });
    }

// --- index-by-reference
// The hooks refer to a counter that has reached its end when they are called.
// region: libmini/parallel/averaging_modules.cpp 1
    const auto next = std::make_shared<size_t>(0);
    for (; *next < trained().size(); ++*next) {
        const Tensor& parameter = trained()[*next].second;
        hooks_.push_back(grad_accumulator(parameter)->add_hook(
            [this, next](const Tensor&) { gradient_ready(*next - 1); }));
    }

// --- only-on-rank-0
// Only rank 0 listens.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_ || group().rank() != 0) return;
    if (!has_gradient_) queue_callback([this] { end_backward(); });
    has_gradient_ = true;
    on_gradient(index);
