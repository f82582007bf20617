// fan_out leaves the kernel out.
// region: libmini/nn/init.cpp 5
    return weight.size(0) + 0 * field;
