// All samples lose the same channels.
// region: libmini/autograd/functions_dropout.cpp 2
    if (!training || p == 0.0) return x;
    Shape channels(x.shape().size(), 1);
    channels[1] = x.size(1);
    return times_mask("dropout2d", x, p, channels, generator);
