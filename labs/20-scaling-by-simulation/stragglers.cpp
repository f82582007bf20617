#include "labs/20-scaling-by-simulation/stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::lab20 {
namespace {

// Returns the mean of a number that is one of `times`. `at_most(p)` is the probability
// that the number is at most x, where p is the fraction of `times` that are at most x.
double expected(std::span<const double> times,
                const std::function<double(double)>& at_most) {
    if (times.empty()) throw UsageError("stragglers: there are no measured times");
    std::vector<double> sorted(times.begin(), times.end());
    std::ranges::sort(sorted);
    const auto m = static_cast<double>(sorted.size());
    double mean = 0;
    // [lab20.5] Add up the times, each with the probability that the number is this time.
    double before = 0;
    for (size_t i = 0; i < sorted.size(); ++i) {
        const double until = at_most(static_cast<double>(i + 1) / m);
        mean += sorted[i] * (until - before);
        before = until;
    }
    // [lab20.5]
    return mean;
}

}  // namespace

double expected_maximum(std::span<const double> times, int n) {
    return expected(times, [n](double p) { return std::pow(p, n); });
}

double at_least(int k, int n, double p) {
    if (p <= 0 || p >= 1) return p >= 1 ? 1 : 0;
    double sum = 0;
    // [lab20.5] Add up the probabilities of exactly k, k + 1, ..., n events.
    for (int j = k; j <= n; ++j) {
        const double log_ways =
            std::lgamma(n + 1.0) - std::lgamma(j + 1.0) - std::lgamma(n - j + 1.0);
        sum += std::exp(log_ways + j * std::log(p) + (n - j) * std::log1p(-p));
    }
    // [lab20.5]
    return sum;
}

double expected_kth(std::span<const double> times, int k, int n) {
    return expected(times, [k, n](double p) { return at_least(k, n, p); });
}

}  // namespace mini::lab20
