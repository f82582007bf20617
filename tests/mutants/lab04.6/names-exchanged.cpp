// The layers have exchanged names.
// region: labs/04-modules-losses-sgd/fit.cpp 1
    register_module("fc2", fc1_);
    register_module("drop", drop_);
    register_module("fc1", fc2_);
