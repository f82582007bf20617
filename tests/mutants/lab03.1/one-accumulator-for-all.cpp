// All leaves of the program share one accumulator.
// region: libmini/autograd/node.cpp 2
    static const auto accumulator = std::make_shared<AccumulateGrad>(leaf);
    leaf.autograd_meta()->accumulator = accumulator;
    return accumulator;
