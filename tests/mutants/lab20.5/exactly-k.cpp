// More than k events do not count.
// region: libmini/extras/scaling/stragglers.cpp 2
const double log_ways =
    std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
sum = std::exp(log_ways + k * std::log(p) + (n - k) * std::log1p(-p));
