// The gain is under the root.
// region: libmini/nn/init.cpp 2
    return std::sqrt(gain * 2.0 / static_cast<double>(fan_in(weight) + fan_out(weight)));
