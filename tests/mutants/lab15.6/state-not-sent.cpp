// The ranks keep their own initial parameters.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.requires_grad()) continue;
        const int id = mini::grad_accumulator(parameter)->add_hook(
            [this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.parameter = parameter, .id = id});
    }
