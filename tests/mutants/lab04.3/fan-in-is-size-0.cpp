// fan_in counts outputs.
// region: libmini/nn/init.cpp 4
    return weight.size(0) * field;
