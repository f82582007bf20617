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
