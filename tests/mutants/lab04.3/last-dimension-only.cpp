// Only the last dimension counts as the kernel.
// region: libmini/nn/init.cpp 1
    if (weight.dim() > 2) field = weight.size(weight.dim() - 1);
