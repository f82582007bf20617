// Channels are dropped in evaluation, too.
// region: libmini/autograd/functions_dropout.cpp 2
    if (p == 0.0) return x;
    Shape channels(x.shape().size(), 1);
    channels[0] = x.size(0);
    channels[1] = x.size(1);
    return times_mask("dropout2d", x, p, channels, generator);
