// --- a-copy-for-every-device
// A device without a chunk receives a copy of the module.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    std::vector<nn::Module*> modules{&module_};
    for (size_t i = 1; i < devices_.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(workers_, modules, chunks);
    return gather(outputs, devices_, output_device_, stats_);

// --- by-the-caller-alone
// The caller runs one module after the other, without workers.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    std::vector<nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < chunks.size(); ++i) outputs.push_back((*modules[i])(chunks[i]));
    return gather(outputs, devices_, output_device_, stats_);

// --- first-output-only
// The output of the first chunk is returned.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    std::vector<nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(workers_, modules, chunks);
    return outputs[0];

// --- gathered-on-the-last-device
// The outputs are gathered on the last device.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    std::vector<nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(workers_, modules, chunks);
    return gather(outputs, devices_, devices_.back(), stats_);

// --- one-copy-for-all
// All copies are the first one.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    std::vector<nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[1].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(workers_, modules, chunks);
    return gather(outputs, devices_, output_device_, stats_);

// --- replicated-once
// The copies keep the parameters of the first step.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    std::vector<nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        if (stats_->bytes_gathered == 0)
            replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(workers_, modules, chunks);
    return gather(outputs, devices_, output_device_, stats_);

// --- the-module-on-all-devices
// The module itself computes all chunks.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    const std::vector<nn::Module*> modules(chunks.size(), &module_);
    const std::vector<Tensor> outputs = parallel_apply(workers_, modules, chunks);
    return gather(outputs, devices_, output_device_, stats_);
