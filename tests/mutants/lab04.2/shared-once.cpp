// A shared tensor is listed under one of its names.
// region: libmini/nn/module.cpp 2
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.parameters_);
        append(state, prefix, module.buffers_);
    });
    state = without_repeats(std::move(state));
