// The ids are thrown away, so the destructor removes no hook.
// region: libmini/parallel/averaging_modules.cpp 1
    for (size_t index = 0; index < trained().size(); ++index) {
        const Tensor& parameter = trained()[index].second;
        grad_accumulator(parameter)->add_hook(
            [this, index](const Tensor&) { gradient_ready(index); });
    }
