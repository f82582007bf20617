// --- at-most-k
// The probability of at most k events.
// region: libmini/extras/scaling/stragglers.cpp 2
for (int j = 0; j <= k; ++j) {
    const double log_ways =
        std::lgamma(n + 1.0) - std::lgamma(j + 1.0) - std::lgamma(n - j + 1.0);
    sum += std::exp(log_ways + j * std::log(p) + (n - j) * std::log1p(-p));
}

// --- coefficients-overflow
// Factorials instead of their logarithms: infinite from 171 on.
// region: libmini/extras/scaling/stragglers.cpp 2
for (int j = k; j <= n; ++j) {
    const double ways =
        std::tgamma(n + 1.0) / std::tgamma(j + 1.0) / std::tgamma(n - j + 1.0);
    sum += ways * std::pow(p, j) * std::pow(1 - p, n - j);
}

// --- cumulative
// The probabilities add up to more than 1.
// region: libmini/extras/scaling/stragglers.cpp 1
for (size_t i = 0; i < sorted.size(); ++i)
    mean += sorted[i] * at_most(static_cast<double>(i + 1) / m);

// --- exactly-k
// More than k events do not count.
// region: libmini/extras/scaling/stragglers.cpp 2
const double log_ways =
    std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
sum = std::exp(log_ways + k * std::log(p) + (n - k) * std::log1p(-p));

// --- mean-of-all
// The plain mean: the slowest rank does not count.
// region: libmini/extras/scaling/stragglers.cpp 1
for (const double time : sorted) mean += time / m;

// --- one-order-only
// The number of ways to choose j of n is forgotten.
// region: libmini/extras/scaling/stragglers.cpp 2
for (int j = k; j <= n; ++j) sum += std::exp(j * std::log(p) + (n - j) * std::log1p(-p));

// --- one-place-off
// The share below a time leaves out the time itself.
// region: libmini/extras/scaling/stragglers.cpp 1
double before = 0;
for (size_t i = 0; i < sorted.size(); ++i) {
    const double until = at_most(static_cast<double>(i) / m);
    mean += sorted[i] * (until - before);
    before = until;
}
