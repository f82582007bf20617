// The hooks refer to a counter that has reached its end when they are called.
// region: libmini/parallel/averaging_modules.cpp 1
    const auto next = std::make_shared<size_t>(0);
    for (; *next < trained().size(); ++*next) {
        const Tensor& parameter = trained()[*next].second;
        hooks_.push_back(grad_accumulator(parameter)->add_hook(
            [this, next](const Tensor&) { gradient_ready(*next - 1); }));
    }
