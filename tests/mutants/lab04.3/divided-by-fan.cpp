// The variance is taken for the standard deviation.
// region: libmini/nn/init.cpp 3
    const bool in = options.mode == FanMode::kFanIn;
    const auto fan = static_cast<double>(in ? fan_in(weight) : fan_out(weight));
    return calculate_gain(options.nonlinearity, options.a) / fan;
