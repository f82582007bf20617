// Weight decay is ignored.
// region: libmini/kernels/cpu/optim.cpp 1
    for (int64_t i = 0; i < n; ++i) parameter[i] += -step.lr * grad[i];
