// --- dropout-after-conv1
// Channels of the first convolution are dropped, not of the second.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv2_drop_(conv1_(x)), 2));
    y = relu(max_pool2d(conv2_(y), 2));
    y = relu(fc1_(view(y, {-1, 320})));
    return fc2_(fc1_drop_(y));

// --- dropout-at-the-end
// Scores are dropped.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv1_(x), 2));
    y = relu(max_pool2d(conv2_drop_(conv2_(y)), 2));
    y = relu(fc1_(view(y, {-1, 320})));
    return fc1_drop_(fc2_(y));

// --- dropout-not-registered
// eval() does not reach the dropout of the channels.
// region: libmini/nn/models.cpp 1
    register_module("conv1", conv1_);
    register_module("conv2", conv2_);
    register_module("fc1", fc1_);
    register_module("fc1_drop", fc1_drop_);
    register_module("fc2", fc2_);

// --- linear-layers-first
// fc1 and fc2 are registered before the convolutions.
// region: libmini/nn/models.cpp 1
    register_module("fc1", fc1_);
    register_module("fc2", fc2_);
    register_module("conv1", conv1_);
    register_module("conv2", conv2_);
    register_module("conv2_drop", conv2_drop_);
    register_module("fc1_drop", fc1_drop_);

// --- mean-for-maximum
// Windows are averaged.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv1_(x), 2));
    y = relu(avg_pool2d(conv2_drop_(conv2_(y)), 2));
    y = relu(fc1_(view(y, {-1, 320})));
    return fc2_(fc1_drop_(y));

// --- no-relu-after-fc1
// fc1 and fc2 together are one linear layer.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv1_(x), 2));
    y = relu(max_pool2d(conv2_drop_(conv2_(y)), 2));
    y = fc1_(view(y, {-1, 320}));
    return fc2_(fc1_drop_(y));

// --- relu-at-the-end
// Scores cannot be negative.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv1_(x), 2));
    y = relu(max_pool2d(conv2_drop_(conv2_(y)), 2));
    y = relu(fc1_(view(y, {-1, 320})));
    return relu(fc2_(fc1_drop_(y)));
