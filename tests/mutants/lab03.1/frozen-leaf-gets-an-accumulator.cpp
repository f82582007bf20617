// A leaf whose requires_grad was switched off is taken for one that requires grad.
// region: libmini/autograd/node.cpp 1
    if (!x.defined() || x.autograd_meta() == nullptr) return nullptr;
    if (x.autograd_meta()->grad_fn) return x.autograd_meta()->grad_fn;
    Tensor leaf = x;
    leaf.set_requires_grad();
    return grad_accumulator(leaf);
