// --- all-dimensions
// All dimensions are multiplied.
// region: libmini/nn/init.cpp 1
    for (int64_t d = 0; d < weight.dim(); ++d) field *= weight.size(d);

// --- bias-first
// The bias is drawn before the weight.
// region: libmini/nn/init.cpp 7
    if (bias.defined()) {
        const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
        uniform_(bias, -bound, bound);
    }
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});

// --- bias-zero
// The bias begins with zeros.
// region: libmini/nn/init.cpp 7
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
    if (bias.defined()) zeros_(bias);

// --- divided-by-fan
// The variance is taken for the standard deviation.
// region: libmini/nn/init.cpp 3
    const bool in = options.mode == FanMode::kFanIn;
    const auto fan = static_cast<double>(in ? fan_in(weight) : fan_out(weight));
    return calculate_gain(options.nonlinearity, options.a) / fan;

// --- draws-for-no-bias
// Numbers are drawn for a bias that does not exist.
// region: libmini/nn/init.cpp 7
    kaiming_uniform_(weight, {.a = std::sqrt(5.0)});
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
    Tensor drawn = Tensor::empty({weight.size(0)});
    uniform_(bias.defined() ? bias : drawn, -bound, bound);

// --- fan-in-is-size-0
// fan_in counts outputs.
// region: libmini/nn/init.cpp 4
    return weight.size(0) * field;

// --- fan-in-only
// Xavier with fan_in instead of the sum of both fans.
// region: libmini/nn/init.cpp 2
    return gain * std::sqrt(1.0 / static_cast<double>(fan_in(weight)));

// --- fan-in-without-field
// fan_in leaves the kernel out.
// region: libmini/nn/init.cpp 4
    return weight.size(1) + 0 * field;

// --- fan-out-without-field
// fan_out leaves the kernel out.
// region: libmini/nn/init.cpp 5
    return weight.size(0) + 0 * field;

// --- from-zero
// The numbers are drawn from 0 to the bound.
// region: libmini/nn/init.cpp 6
    const double bound = std::sqrt(3.0) * kaiming_std(weight, options);
    uniform_(weight, 0, bound, generator);

// --- gain-ignored
// The gain of the nonlinearity is ignored.
// region: libmini/nn/init.cpp 3
    const bool in = options.mode == FanMode::kFanIn;
    const auto fan = static_cast<double>(in ? fan_in(weight) : fan_out(weight));
    return 1.0 / std::sqrt(fan);

// --- gain-under-the-root
// The gain is under the root.
// region: libmini/nn/init.cpp 2
    return std::sqrt(gain * 2.0 / static_cast<double>(fan_in(weight) + fan_out(weight)));

// --- kernel-ignored
// The places of the kernel are not counted.
// region: libmini/nn/init.cpp 1

// --- last-dimension-only
// Only the last dimension counts as the kernel.
// region: libmini/nn/init.cpp 1
    if (weight.dim() > 2) field = weight.size(weight.dim() - 1);

// --- mode-ignored
// The mode is ignored: always fan_in.
// region: libmini/nn/init.cpp 3
    const auto fan = static_cast<double>(fan_in(weight));
    return calculate_gain(options.nonlinearity, options.a) / std::sqrt(fan);

// --- relu-gain
// The weight is drawn for a ReLU, with a bound sqrt(6) times as large.
// region: libmini/nn/init.cpp 7
    kaiming_uniform_(weight);
    if (!bias.defined()) return;
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in(weight)));
    uniform_(bias, -bound, bound);

// --- std-as-bound
// The standard deviation is taken for the bound.
// region: libmini/nn/init.cpp 6
    const double bound = kaiming_std(weight, options);
    uniform_(weight, -bound, bound, generator);
