// A missing tensor is not reported.
// region: libmini/nn/module.cpp 1
    for (const auto& [name, tensor] : own) {
        const Tensor* const given = find(state, name);
        if (given != nullptr &&
            (given->shape() != tensor.shape() || given->dtype() != tensor.dtype()))
            lines += concat("\n  ", name, ": the module has ", tensor.dtype(), " ",
                            tensor.shape(), ", the state ", given->dtype(), " ",
                            given->shape());
    }
    for (const auto& [name, tensor] : state)
        if (find(own, name) == nullptr)
            lines += concat("\n  unexpected: ", name, " ", tensor.shape());
