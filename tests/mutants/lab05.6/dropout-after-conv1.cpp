// Channels of the first convolution are dropped, not of the second.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv2_drop_(conv1_(x)), 2));
    y = relu(max_pool2d(conv2_(y), 2));
    y = relu(fc1_(view(y, {-1, 320})));
    return fc2_(fc1_drop_(y));
