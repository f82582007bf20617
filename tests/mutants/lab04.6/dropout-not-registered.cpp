// drop is not registered, so eval() does not reach it.
// region: labs/04-modules-losses-sgd/fit.cpp 1
    register_module("fc1", fc1_);
    register_module("fc2", fc2_);
