// --- a-copy-is-changed
// A clone of the input is changed, which the function does not see.
    Tensor element = ops::select(ops::view(ops::clone(x),
                                           {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / (static_cast<double>(higher) - lower);

// --- all-elements-change
// All elements of the input change together.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    Tensor whole = x;
    const Tensor before = ops::clone(x);
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(whole, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(whole, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::copy_(whole, before);
    return (above - below) / (static_cast<double>(higher) - lower);

// --- always-the-first-element
// The first element is changed for every index.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(0 * index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / (static_cast<double>(higher) - lower);

// --- divided-by-the-step
// The difference is divided by h.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / step;

// --- divided-by-twice-the-step
// The difference is divided by 2 h, not by the distance of the floats.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / (2.0 * step);

// --- double-step
// The steps are 2 h.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + 2 * step);
    const auto lower = static_cast<float>(original - 2 * step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / (static_cast<double>(higher) - lower);

// --- down-from-above
// The second step starts at the first one's end.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(higher - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / (static_cast<double>(higher) - lower);

// --- not-restored
// The element keeps its last value.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    return (above - below) / (static_cast<double>(higher) - lower);

// --- one-sided
// The difference is one-sided.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (above - below) / (static_cast<double>(higher) - original);

// --- restored-by-adding
// The element is restored by adding the step, with a rounding error.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, static_cast<float>(lower + step));
    return (above - below) / (static_cast<double>(higher) - lower);

// --- wrong-sign
// The value above is subtracted from the value below.
    Tensor element = ops::select(ops::view(x, {-1}), 0, static_cast<int64_t>(index));
    const auto original = static_cast<float>(element.item());
    const auto higher = static_cast<float>(original + step);
    const auto lower = static_cast<float>(original - step);
    ops::fill_(element, higher);
    const double above = weighted_value(function, inputs, weights);
    ops::fill_(element, lower);
    const double below = weighted_value(function, inputs, weights);
    ops::fill_(element, original);
    return (below - above) / (static_cast<double>(higher) - lower);
