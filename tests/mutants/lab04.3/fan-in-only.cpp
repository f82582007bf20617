// Xavier with fan_in instead of the sum of both fans.
// region: libmini/nn/init.cpp 2
    return gain * std::sqrt(1.0 / static_cast<double>(fan_in(weight)));
