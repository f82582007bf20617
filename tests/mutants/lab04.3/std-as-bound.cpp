// The standard deviation is taken for the bound.
// region: libmini/nn/init.cpp 6
    const double bound = kaiming_std(weight, options);
    uniform_(weight, -bound, bound, generator);
