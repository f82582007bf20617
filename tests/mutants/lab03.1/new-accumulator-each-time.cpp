// Each call makes another accumulator: hooks are lost, and nothing is summed first.
// region: libmini/autograd/node.cpp 2
    AutogradMeta& meta = *leaf.autograd_meta();
    meta.accumulator = std::make_shared<AccumulateGrad>(leaf);
    return meta.accumulator;
