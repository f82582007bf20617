// Each element has its own number, as in dropout.
// region: libmini/autograd/functions_dropout.cpp 2
    if (!training || p == 0.0) return x;
    return times_mask("dropout2d", x, p, x.shape(), generator);
