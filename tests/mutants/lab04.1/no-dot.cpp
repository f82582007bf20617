// The names have no dot between module and parameter.
// region: libmini/nn/module.cpp 4
    visit(prefix, *this);
    for (const auto& [name, module] : modules_) module->walk(prefix + name, visit);
