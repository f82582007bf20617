// Handles are assigned, so no module sees the values.
// region: libmini/nn/module.cpp 3
    for (auto& [name, tensor] : own) tensor = *find(state, name);
