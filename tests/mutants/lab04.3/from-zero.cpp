// The numbers are drawn from 0 to the bound.
// region: libmini/nn/init.cpp 6
    const double bound = std::sqrt(3.0) * kaiming_std(weight, options);
    uniform_(weight, 0, bound, generator);
