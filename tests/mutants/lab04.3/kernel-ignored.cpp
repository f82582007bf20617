// The places of the kernel are not counted.
// region: libmini/nn/init.cpp 1
