// The mode is set one level deep.
// region: libmini/nn/module.cpp 3
    training_ = training;
    for (const auto& [name, module] : modules_) module->training_ = training;
