// Dropout is left out.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return fc2_(mini::relu(fc1_(mini::flatten(x, 1))));
