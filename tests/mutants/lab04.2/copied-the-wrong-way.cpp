// The module is copied into the state.
// region: libmini/nn/module.cpp 3
    for (auto& [name, tensor] : own) {
        Tensor to = *find(state, name);
        ops::copy_(to, tensor);
    }
