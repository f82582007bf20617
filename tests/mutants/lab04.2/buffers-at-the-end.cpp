// All buffers come after all parameters.
// region: libmini/nn/module.cpp 2
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.parameters_);
    });
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.buffers_);
    });
