// Dropout acts on the class scores.
// region: labs/04-modules-losses-sgd/fit.cpp 2
    return drop_(fc2_(mini::relu(fc1_(mini::flatten(x, 1)))));
