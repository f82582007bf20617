// The first parameter, whose gradient is ready last, has no hook.
// region: libmini/parallel/averaging_modules.cpp 1
    for (size_t index = 1; index < trained().size(); ++index) {
        const Tensor& parameter = trained()[index].second;
        hooks_.push_back(grad_accumulator(parameter)->add_hook(
            [this, index](const Tensor&) { gradient_ready(index); }));
    }
