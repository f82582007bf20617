// The decay is added to the velocity instead of to the gradient.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = (step.nesterov ? g + step.momentum * v : v) + step.weight_decay * parameter[i];
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }
