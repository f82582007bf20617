// Submodules come before their parents.
// region: libmini/nn/module.cpp 2
    all.clear();
    for (const auto& [name, module] : modules_)
        for (Module* const below : module->modules())
            if (std::ranges::find(all, below) == all.end()) all.push_back(below);
    all.push_back(this);
