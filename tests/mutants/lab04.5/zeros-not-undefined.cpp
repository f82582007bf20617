// Gradients become zeros instead of undefined.
// region: libmini/optim/optimizer.cpp 1
    for (Tensor& parameter : parameters_)
        if (parameter.grad().defined()) {
            Tensor grad = parameter.grad();
            for (float& value : grad.span<float>()) value = 0;
        }
