// The caller runs one module after the other, without lanes.
    const std::vector<Tensor> chunks = mini::parallel::scatter(x, devices_, stats_);
    std::vector<mini::nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < chunks.size(); ++i) outputs.push_back((*modules[i])(chunks[i]));
    return mini::parallel::gather(outputs, devices_, devices_[0], stats_);
