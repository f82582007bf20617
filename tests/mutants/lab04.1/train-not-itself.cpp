// The module sets its submodules only, unless it has none.
// region: libmini/nn/module.cpp 3
    if (modules_.empty()) training_ = training;
    for (const auto& [name, module] : modules_) module->train(training);
