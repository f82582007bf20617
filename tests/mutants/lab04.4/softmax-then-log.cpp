// The logarithm of a softmax: log(0) for a score far below the maximum.
// region: libmini/autograd/losses.cpp 1
    return nll_loss(log(exp(scores) / sum(exp(scores), {1}, true)), target, reduction);
