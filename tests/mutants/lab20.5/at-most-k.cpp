// The probability of at most k events.
// region: libmini/extras/scaling/stragglers.cpp 2
for (int j = 0; j <= k; ++j) {
    const double log_ways =
        std::lgamma(n + 1.0) - std::lgamma(j + 1.0) - std::lgamma(n - j + 1.0);
    sum += std::exp(log_ways + j * std::log(p) + (n - j) * std::log1p(-p));
}
