// An undefined input is asked whether it requires grad.
// region: libmini/autograd/node.cpp 1
    if (!x.requires_grad()) return nullptr;
    if (x.autograd_meta()->grad_fn) return x.autograd_meta()->grad_fn;
    return grad_accumulator(x);
