// Buffers are not part of the state.
// region: libmini/nn/module.cpp 2
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.parameters_);
    });
