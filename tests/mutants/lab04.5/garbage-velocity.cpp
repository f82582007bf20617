// The first step reads the velocity's memory, and NaN * 0 is NaN.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = velocity[i] * keep + take * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }
