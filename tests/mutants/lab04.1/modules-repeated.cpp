// A module under two names is appended twice.
// region: libmini/nn/module.cpp 2
    for (const auto& [name, module] : modules_)
        for (Module* const below : module->modules()) all.push_back(below);
