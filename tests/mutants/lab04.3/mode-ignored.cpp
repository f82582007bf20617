// The mode is ignored: always fan_in.
// region: libmini/nn/init.cpp 3
    const auto fan = static_cast<double>(fan_in(weight));
    return calculate_gain(options.nonlinearity, options.a) / std::sqrt(fan);
