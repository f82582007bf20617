// Tensors are matched by position, not by name.
// region: libmini/nn/module.cpp 3
    for (size_t i = 0; i < own.size(); ++i)
        if (own[i].second.shape() == state[i].second.shape())
            ops::copy_(own[i].second, state[i].second);
