// --- buffers-at-the-end
// All buffers come after all parameters.
// region: libmini/nn/module.cpp 2
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.parameters_);
    });
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.buffers_);
    });

// --- buffers-left-out
// Buffers are not part of the state.
// region: libmini/nn/module.cpp 2
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.parameters_);
    });

// --- by-position
// Tensors are matched by position, not by name.
// region: libmini/nn/module.cpp 3
    for (size_t i = 0; i < own.size(); ++i)
        if (own[i].second.shape() == state[i].second.shape())
            ops::copy_(own[i].second, state[i].second);

// --- copied-the-wrong-way
// The module is copied into the state.
// region: libmini/nn/module.cpp 3
    for (auto& [name, tensor] : own) {
        Tensor to = *find(state, name);
        ops::copy_(to, tensor);
    }

// --- dtype-not-compared
// A tensor of another dtype is accepted.
// region: libmini/nn/module.cpp 1
    for (const auto& [name, tensor] : own) {
        const Tensor* const given = find(state, name);
        if (given == nullptr)
            lines += concat("\n  missing: ", name, " ", tensor.shape());
        else if (given->shape() != tensor.shape())
            lines += concat("\n  ", name, ": the module has ", tensor.dtype(), " ",
                            tensor.shape(), ", the state ", given->dtype(), " ",
                            given->shape());
    }
    for (const auto& [name, tensor] : state)
        if (find(own, name) == nullptr)
            lines += concat("\n  unexpected: ", name, " ", tensor.shape());

// --- first-difference-only
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

// --- handles-assigned
// Handles are assigned, so no module sees the values.
// region: libmini/nn/module.cpp 3
    for (auto& [name, tensor] : own) tensor = *find(state, name);

// --- no-missing
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

// --- no-unexpected
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

// --- numel-compared
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

// --- shared-once
// A shared tensor is listed under one of its names.
// region: libmini/nn/module.cpp 2
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.parameters_);
        append(state, prefix, module.buffers_);
    });
    state = without_repeats(std::move(state));
