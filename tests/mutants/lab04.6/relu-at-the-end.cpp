// A second relu: scores cannot be negative.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return mini::relu(fc2_(drop_(mini::relu(fc1_(mini::flatten(x, 1))))));
