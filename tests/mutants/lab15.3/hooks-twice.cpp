// Two hooks on each parameter.
// region: libmini/parallel/averaging_modules.cpp 1
    for (int time = 0; time < 2; ++time)
        for (size_t index = 0; index < trained().size(); ++index) {
            const Tensor& parameter = trained()[index].second;
            hooks_.push_back(grad_accumulator(parameter)->add_hook(
                [this, index](const Tensor&) { gradient_ready(index); }));
        }
