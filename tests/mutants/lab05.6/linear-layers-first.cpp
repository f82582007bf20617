// fc1 and fc2 are registered before the convolutions.
// region: libmini/nn/models.cpp 1
    register_module("fc1", fc1_);
    register_module("fc2", fc2_);
    register_module("conv1", conv1_);
    register_module("conv2", conv2_);
    register_module("conv2_drop", conv2_drop_);
    register_module("fc1_drop", fc1_drop_);
