// The gain of the nonlinearity is ignored.
// region: libmini/nn/init.cpp 3
    const bool in = options.mode == FanMode::kFanIn;
    const auto fan = static_cast<double>(in ? fan_in(weight) : fan_out(weight));
    return 1.0 / std::sqrt(fan);
