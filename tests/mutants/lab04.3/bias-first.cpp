// The bias is drawn before the weight.
// region: libmini/nn/init.cpp 7
    if (bias.defined()) {
        const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
        uniform_(bias, -bound, bound);
    }
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
