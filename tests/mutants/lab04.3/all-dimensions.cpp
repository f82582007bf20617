// All dimensions are multiplied.
// region: libmini/nn/init.cpp 1
    for (int64_t d = 0; d < weight.dim(); ++d) field *= weight.size(d);
