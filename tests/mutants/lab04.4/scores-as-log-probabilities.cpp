// The scores are taken for log-probabilities.
// region: libmini/autograd/losses.cpp 1
    return nll_loss(scores, target, reduction);
