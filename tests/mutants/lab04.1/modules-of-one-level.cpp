// Only the direct submodules are appended.
// region: libmini/nn/module.cpp 2
    for (const auto& [name, module] : modules_) all.push_back(module);
