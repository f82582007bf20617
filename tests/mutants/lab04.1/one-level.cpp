// The walk ends after the direct submodules.
// region: libmini/nn/module.cpp 4
    visit(prefix, *this);
    for (const auto& [name, module] : modules_) visit(prefix + name + ".", *module);
