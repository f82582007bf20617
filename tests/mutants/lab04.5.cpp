// --- dampened-first-step
// Dampening acts on the first step, too.
// region: libmini/kernels/cpu/optim.cpp 2
    static_cast<void>(take);
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + (1.0f - step.dampening) * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- decay-after-momentum
// The decay is added to the velocity instead of to the gradient.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = (step.nesterov ? g + step.momentum * v : v) + step.weight_decay * parameter[i];
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- decay-without-lr
// The decay is not multiplied by the learning rate.
// region: libmini/kernels/cpu/optim.cpp 1
    for (int64_t i = 0; i < n; ++i)
        parameter[i] += -step.lr * grad[i] - step.weight_decay * parameter[i];

// --- first-element
// All elements take the first element's gradient.
// region: libmini/kernels/cpu/optim.cpp 1
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[0] + step.weight_decay * parameter[i];
        parameter[i] += -step.lr * g;
    }

// --- first-parameter-only
// Only the first parameter's gradient is cleared.
// region: libmini/optim/optimizer.cpp 1
    parameters_[0].set_grad({});

// --- garbage-velocity
// The first step reads the velocity's memory, and NaN * 0 is NaN.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = velocity[i] * keep + take * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- learning-rate-in-velocity
// The velocity holds lr * g, and lr is applied again.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * step.lr * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- momentum-decay-ignored
// With momentum, weight decay is ignored.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- nesterov-ignored
// Nesterov is ignored.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- nesterov-of-the-old-velocity
// Nesterov looks along the old velocity.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = step.nesterov ? g + step.momentum * (step.first ? 0.0f : velocity[i]) : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- no-dampening
// Dampening is ignored.
// region: libmini/kernels/cpu/optim.cpp 2
    static_cast<void>(take);
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = v;
        parameter[i] += -step.lr * direction;
    }

// --- no-decay
// Weight decay is ignored.
// region: libmini/kernels/cpu/optim.cpp 1
    for (int64_t i = 0; i < n; ++i) parameter[i] += -step.lr * grad[i];

// --- uphill
// The step follows the gradient instead of going against it.
// region: libmini/kernels/cpu/optim.cpp 1
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        parameter[i] += step.lr * g;
    }

// --- velocity-not-stored
// The velocity is not stored: every step is like the first.
// region: libmini/kernels/cpu/optim.cpp 2
    for (int64_t i = 0; i < n; ++i) {
        const float g = grad[i] + step.weight_decay * parameter[i];
        const float v = (step.first ? 0.0f : velocity[i] * keep) + take * g;
        const float direction = step.nesterov ? g + step.momentum * v : v;
        velocity[i] = step.first ? v : velocity[i];
        parameter[i] += -step.lr * direction;
    }

// --- zeros-not-undefined
// Gradients become zeros instead of undefined.
// region: libmini/optim/optimizer.cpp 1
    for (Tensor& parameter : parameters_)
        if (parameter.grad().defined()) {
            Tensor grad = parameter.grad();
            for (float& value : grad.span<float>()) value = 0;
        }
