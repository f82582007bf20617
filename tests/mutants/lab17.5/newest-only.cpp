// Only the highest step is tried.
// region: libmini/io/checkpoint.cpp 3
    return load(steps.back());
