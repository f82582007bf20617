// A device without a chunk receives a copy of the module.
    const std::vector<Tensor> chunks = mini::parallel::scatter(x, devices_, stats_);
    std::vector<mini::nn::Module*> modules{&module_};
    for (size_t i = 1; i < devices_.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(lanes_, modules, chunks);
    return mini::parallel::gather(outputs, devices_, devices_[0], stats_);
