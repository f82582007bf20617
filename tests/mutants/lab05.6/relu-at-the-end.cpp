// Scores cannot be negative.
// region: libmini/nn/models.cpp 2
    Tensor y = relu(max_pool2d(conv1_(x), 2));
    y = relu(max_pool2d(conv2_drop_(conv2_(y)), 2));
    y = relu(fc1_(view(y, {-1, 320})));
    return relu(fc2_(fc1_drop_(y)));
