// The module itself computes all chunks.
    const std::vector<Tensor> chunks = mini::parallel::scatter(x, devices_, stats_);
    const std::vector<mini::nn::Module*> modules(chunks.size(), &module_);
    const std::vector<Tensor> outputs = parallel_apply(lanes_, modules, chunks);
    return mini::parallel::gather(outputs, devices_, devices_[0], stats_);
