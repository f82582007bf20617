// Only the last module's name is before a parameter's.
// region: libmini/nn/module.cpp 4
    visit(prefix, *this);
    for (const auto& [name, module] : modules_) module->walk(name + ".", visit);
