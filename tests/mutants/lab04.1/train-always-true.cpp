// The submodules are set to training mode, whatever is asked.
// region: libmini/nn/module.cpp 3
    training_ = training;
    for (const auto& [name, module] : modules_) module->train();
