// The ranks keep their own initial parameters.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.requires_grad()) continue;
        const auto accumulator = mini::grad_accumulator(parameter);
        const int id = accumulator->add_hook(
            [this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.accumulator = accumulator, .id = id});
    }
