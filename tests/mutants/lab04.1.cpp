// --- both-names-dropped
// A shared tensor is dropped under all of its names.
// region: libmini/nn/module.cpp 1
    const NamedTensors all = tensors;
    std::erase_if(tensors, [&](const auto& entry) {
        return std::ranges::count_if(all, [&](const auto& other) {
                   return other.second.id() == entry.second.id();
               }) > 1;
    });

// --- children-first
// Submodules come before their parents.
// region: libmini/nn/module.cpp 2
    all.clear();
    for (const auto& [name, module] : modules_)
        for (Module* const below : module->modules())
            if (std::ranges::find(all, below) == all.end()) all.push_back(below);
    all.push_back(this);

// --- equal-values-dropped
// Tensors with equal values count as the same tensor.
// region: libmini/nn/module.cpp 1
    std::vector<std::vector<float>> seen;
    std::erase_if(tensors, [&](const auto& entry) {
        if (entry.second.dtype() != DType::kFloat32) return false;
        const auto values = entry.second.template to_vector<float>();
        if (std::ranges::find(seen, values) != seen.end()) return true;
        seen.push_back(values);
        return false;
    });

// --- last-name-kept
// The last name of a shared tensor is kept instead of the first.
// region: libmini/nn/module.cpp 1
    std::unordered_set<const void*> seen;
    std::ranges::reverse(tensors);
    std::erase_if(tensors, [&](const auto& entry) { return !seen.insert(entry.second.id()).second; });
    std::ranges::reverse(tensors);

// --- modules-of-one-level
// Only the direct submodules are appended.
// region: libmini/nn/module.cpp 2
    for (const auto& [name, module] : modules_) all.push_back(module);

// --- modules-repeated
// A module under two names is appended twice.
// region: libmini/nn/module.cpp 2
    for (const auto& [name, module] : modules_)
        for (Module* const below : module->modules()) all.push_back(below);

// --- no-dot
// The names have no dot between module and parameter.
// region: libmini/nn/module.cpp 4
    visit(prefix, *this);
    for (const auto& [name, module] : modules_) module->walk(prefix + name, visit);

// --- one-level
// The walk ends after the direct submodules.
// region: libmini/nn/module.cpp 4
    visit(prefix, *this);
    for (const auto& [name, module] : modules_) visit(prefix + name + ".", *module);

// --- prefix-forgotten
// Only the last module's name is before a parameter's.
// region: libmini/nn/module.cpp 4
    visit(prefix, *this);
    for (const auto& [name, module] : modules_) module->walk(name + ".", visit);

// --- repeats-by-name
// Repeats are found by name, but equal tensors have different names.
// region: libmini/nn/module.cpp 1
    std::unordered_set<std::string> seen;
    std::erase_if(tensors, [&](const auto& entry) { return !seen.insert(entry.first).second; });

// --- repeats-kept
// A parameter with two names is listed twice.
// region: libmini/nn/module.cpp 1

// --- submodules-first
// The parameters of submodules come before the module's own.
// region: libmini/nn/module.cpp 4
    for (const auto& [name, module] : modules_) module->walk(prefix + name + ".", visit);
    visit(prefix, *this);

// --- train-always-true
// The submodules are set to training mode, whatever is asked.
// region: libmini/nn/module.cpp 3
    training_ = training;
    for (const auto& [name, module] : modules_) module->train();

// --- train-not-itself
// The module sets its submodules only, unless it has none.
// region: libmini/nn/module.cpp 3
    if (modules_.empty()) training_ = training;
    for (const auto& [name, module] : modules_) module->train(training);

// --- train-of-one-module
// The mode of the submodules is not set.
// region: libmini/nn/module.cpp 3
    training_ = training;

// --- train-one-level
// The mode is set one level deep.
// region: libmini/nn/module.cpp 3
    training_ = training;
    for (const auto& [name, module] : modules_) module->training_ = training;
