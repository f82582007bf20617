// eval() does not reach the dropout of the channels.
// region: libmini/nn/models.cpp 1
    register_module("conv1", conv1_);
    register_module("conv2", conv2_);
    register_module("fc1", fc1_);
    register_module("fc1_drop", fc1_drop_);
    register_module("fc2", fc2_);
