#include "libmini/random/multinomial.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

template <typename... Parts>
void check_usage(bool condition, const Parts&... parts) {
    if (!condition) throw UsageError(concat("multinomial: ", parts...));
}

// Places the categories end to end: category i ends at weights[0] + ... + weights[i],
// divided by the total; the last category ends at exactly 1, despite rounding. For each
// sample draws u = generator.uniform_double(). The sample is the first category that has
// a positive weight and an end >= u.
std::vector<int64_t> draw_with_replacement(std::span<const double> weights,
                                           int64_t num_samples, Generator& generator) {
    // [lab08.1] Place the categories end to end, and search where each draw falls.
    // Place the weights end to end, from 0 to exactly 1.
    std::vector<double> ends(weights.size());
    std::partial_sum(weights.begin(), weights.end(), ends.begin());
    const double total = ends.back();
    for (double& end : ends) end /= total;
    ends.back() = 1;

    // Select the first category with an end >= u. Skip the leading categories of weight
    // zero: their end is 0, which would match u = 0. A later category of weight zero has
    // the same end as the category before it, so it is never the first.
    const auto first = std::ranges::upper_bound(ends, 0.0);
    std::vector<int64_t> samples(static_cast<size_t>(num_samples));
    for (int64_t& sample : samples) {
        const double u = generator.uniform_double();
        sample = std::lower_bound(first, ends.end(), u) - ends.begin();
    }
    return samples;
    // [lab08.1]
}

// Draws a time t = generator.exponential_double() for each category i in order, also for
// categories of weight zero; the speed of category i is weights[i] / t. Returns the
// num_samples fastest categories, the fastest first; if two speeds are equal, the smaller
// index first. Categories of weight zero come after all other categories, even after a
// category whose speed is rounded to zero.
std::vector<int64_t> draw_without_replacement(std::span<const double> weights,
                                              int64_t num_samples, Generator& generator) {
    // [lab08.2] Let the categories race, and return the fastest.
    // Compute speeds, not times, because PyTorch divides this way. The speed -1 puts a
    // weight of zero last.
    std::vector<double> speeds(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const double time = generator.exponential_double();
        speeds[i] = weights[i] > 0 ? weights[i] / time : -1;
    }

    std::vector<int64_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + num_samples, order.end(),
                      [&](int64_t left, int64_t right) {
                          const double a = speeds[static_cast<size_t>(left)];
                          const double b = speeds[static_cast<size_t>(right)];
                          return a != b ? a > b : left < right;
                      });
    order.resize(static_cast<size_t>(num_samples));
    return order;
    // [lab08.2]
}

}  // namespace

void check_multinomial(std::span<const double> weights, int64_t num_samples,
                       bool replacement) {
    check_usage(num_samples >= 1, "num_samples is ", num_samples, ", not 1 or more");
    int64_t positive = 0;
    double total = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
        check_usage(std::isfinite(weights[i]) && weights[i] >= 0, "weight ", i, " is ",
                    weights[i], ", not a finite number of 0 or more");
        positive += weights[i] > 0;
        total += weights[i];
    }
    check_usage(positive > 0, "none of the ", weights.size(),
                " weights is positive, so there is nothing to draw");
    check_usage(std::isfinite(total), "the weights add up to ", total,
                "; divide them all by the largest");
    check_usage(replacement || positive >= num_samples, num_samples,
                " samples without replacement, but only ", positive, " of the ",
                weights.size(), " weights are positive");
}

std::vector<int64_t> multinomial(std::span<const double> weights, int64_t num_samples,
                                 bool replacement, Generator& generator) {
    check_multinomial(weights, num_samples, replacement);
    const bool race = !replacement || num_samples == 1;
    return race ? draw_without_replacement(weights, num_samples, generator)
                : draw_with_replacement(weights, num_samples, generator);
}

}  // namespace mini
