// A tensor that requires no grad is made to require it.
// region: libmini/autograd/node.cpp 1
    if (!x.defined()) return nullptr;
    if (!x.is_leaf()) return x.autograd_meta()->grad_fn;
    Tensor leaf = x;
    leaf.set_requires_grad();
    return grad_accumulator(leaf);
