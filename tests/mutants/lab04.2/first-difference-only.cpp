// Only the first difference is reported.
// region: libmini/nn/module.cpp 1
    for (const auto& [name, tensor] : own) {
        const Tensor* const given = find(state, name);
        if (given == nullptr)
            return concat("\n  missing: ", name, " ", tensor.shape());
        else if (given->shape() != tensor.shape() || given->dtype() != tensor.dtype())
            return concat("\n  ", name, ": the module has ", tensor.dtype(), " ",
                            tensor.shape(), ", the state ", given->dtype(), " ",
                            given->shape());
    }
    for (const auto& [name, tensor] : state)
        if (find(own, name) == nullptr)
            return concat("\n  unexpected: ", name, " ", tensor.shape());
