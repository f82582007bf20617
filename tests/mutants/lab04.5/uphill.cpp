// The step follows the gradient instead of going against it.
// region: libmini/kernels/cpu/optim.cpp 1
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        parameter[i] += step.lr * g;
    }
