// A parameter with two names is listed twice.
// region: libmini/nn/module.cpp 1
