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
