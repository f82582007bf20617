// The accumulator is returned, but the leaf does not keep it.
// region: libmini/autograd/node.cpp 2
    if (leaf.autograd_meta()->accumulator) return leaf.autograd_meta()->accumulator;
    return std::make_shared<AccumulateGrad>(leaf);
