// The copies keep the parameters of the first step.
    const std::vector<Tensor> chunks = mini::parallel::scatter(x, devices_, stats_);
    std::vector<mini::nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        if (stats_->bytes_gathered == 0)
            replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(lanes_, modules, chunks);
    return mini::parallel::gather(outputs, devices_, devices_[0], stats_);
