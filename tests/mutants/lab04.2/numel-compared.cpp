// The numbers of elements and the dtypes are swapped in the message.
// region: libmini/nn/module.cpp 1
    for (const auto& [name, tensor] : own) {
        const Tensor* const given = find(state, name);
        if (given == nullptr)
            lines += concat("\n  missing: ", name, " ", tensor.shape());
        else if (given->shape() != tensor.shape() || given->dtype() != tensor.dtype())
            lines += concat("\n  ", name, ": the module has ", given->dtype(), " ",
                            given->shape(), ", the state ", tensor.dtype(), " ",
                            tensor.shape());
    }
    for (const auto& [name, tensor] : state)
        if (find(own, name) == nullptr)
            lines += concat("\n  unexpected: ", name, " ", tensor.shape());
