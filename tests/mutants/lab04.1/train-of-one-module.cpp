// The mode of the submodules is not set.
// region: libmini/nn/module.cpp 3
    training_ = training;
