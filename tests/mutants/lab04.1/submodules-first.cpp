// The parameters of submodules come before the module's own.
// region: libmini/nn/module.cpp 4
    for (const auto& [name, module] : modules_) module->walk(prefix + name + ".", visit);
    visit(prefix, *this);
