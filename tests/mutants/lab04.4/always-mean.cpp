// The reduction is not passed on.
// region: libmini/autograd/losses.cpp 1
    static_cast<void>(reduction);
    return nll_loss(log_softmax(scores), target);
