// The weight is drawn for a ReLU, with a bound sqrt(6) times as large.
// region: libmini/nn/init.cpp 7
    kaiming_uniform_(weight);
    if (!bias.defined()) return;
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
    uniform_(bias, -bound, bound);
