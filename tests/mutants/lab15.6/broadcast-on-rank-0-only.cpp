// Only rank 0 broadcasts, because only rank 0 has something to send.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    if (group.rank() == 0) {
        for (const Tensor& parameter : module.parameters()) group.broadcast(parameter, 0);
        for (const Tensor& buffer : module.buffers()) group.broadcast(buffer, 0);
    }
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.requires_grad()) continue;
        const auto accumulator = mini::grad_accumulator(parameter);
        const int id = accumulator->add_hook(
            [this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.accumulator = accumulator, .id = id});
    }
