// All elements take the first element's gradient.
// region: libmini/kernels/cpu/optim.cpp 1
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[0] + step.weight_decay * parameter[i];
        parameter[i] += -step.lr * g;
    }
