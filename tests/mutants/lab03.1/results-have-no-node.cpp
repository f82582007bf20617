// Only leaves have a node: the graph ends at the first result.
// region: libmini/autograd/node.cpp 1
    if (!x.defined() || !x.requires_grad() || !x.is_leaf()) return nullptr;
    return grad_accumulator(x);
