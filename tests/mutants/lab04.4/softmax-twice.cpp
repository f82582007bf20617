// log_softmax is applied to probabilities.
// region: libmini/autograd/losses.cpp 1
    return nll_loss(log_softmax(exp(log_softmax(scores))), target, reduction);
