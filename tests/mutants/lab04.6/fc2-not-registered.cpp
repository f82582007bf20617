// fc2 is not registered, so it is not trained.
// region: labs/04-modules-losses-sgd/fit.cpp 1
    register_module("fc1", fc1_);
    register_module("drop", drop_);
