// The gradient of a result is sent to an accumulator, which it does not have.
// region: libmini/autograd/node.cpp 1
    if (!x.defined() || !x.requires_grad()) return nullptr;
    return grad_accumulator(x);
