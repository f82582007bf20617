// Numbers are drawn for a bias that does not exist.
// region: libmini/nn/init.cpp 7
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
    Tensor drawn = Tensor::empty({weight.size(0)});
    uniform_(bias.defined() ? bias : drawn, -bound, bound);
