// fc1 and fc2 together are one linear layer.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv1_(x), 2));
    y = relu(max_pool2d(conv2_drop_(conv2_(y)), 2));
    y = fc1_(view(y, {-1, 320}));
    return fc2_(fc1_drop_(y));
