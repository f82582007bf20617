// Only the first parameter's gradient is cleared.
// region: libmini/optim/optimizer.cpp 1
    parameters_[0].set_grad({});
