// Without the relu, two linear layers are one.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return fc2_(drop_(fc1_(mini::flatten(x, 1))));
