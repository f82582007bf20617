// A name that the module does not have is ignored.
// region: libmini/nn/module.cpp 1
    for (const auto& [name, tensor] : own) {
        const Tensor* const given = find(state, name);
        if (given == nullptr)
            lines += concat("\n  missing: ", name, " ", tensor.shape());
        else if (given->shape() != tensor.shape() || given->dtype() != tensor.dtype())
            lines += concat("\n  ", name, ": the module has ", tensor.dtype(), " ",
                            tensor.shape(), ", the state ", given->dtype(), " ",
                            given->shape());
    }
