#include "libmini/random/multinomial.hpp"

#include <algorithm>
#include <numeric>

#include "libmini/core/error.hpp"

// [lab08 file]
namespace mini {
namespace {

std::vector<int64_t> draw_with_replacement(std::span<const double> weights,
                                           int64_t num_samples, Generator& generator) {
    // [lab08.1] Place the categories end to end, and search where each draw falls.
    std::vector<double> ends(weights.size());
    std::partial_sum(weights.begin(), weights.end(), ends.begin());
    const double total = ends.back();
    for (double& end : ends) end /= total;
    ends.back() = 1;

    // Select the first category with an end >= u. Leading categories of weight zero end at
    // 0, which would match u = 0; a later one ends where the category before it does.
    const auto first = std::ranges::upper_bound(ends, 0.0);
    std::vector<int64_t> samples(static_cast<size_t>(num_samples));
    for (int64_t& sample : samples) {
        const double u = generator.uniform_double();
        sample = std::lower_bound(first, ends.end(), u) - ends.begin();
    }
    return samples;
    // [lab08.1]
}

std::vector<int64_t> draw_without_replacement(std::span<const double> weights,
                                              int64_t num_samples, Generator& generator) {
    // [lab08.2] Let the categories race, and return the fastest.
    // Speeds, because PyTorch divides this way; the speed -1 puts a weight of zero last.
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

std::vector<int64_t> multinomial(std::span<const double> weights, int64_t num_samples,
                                 bool replacement, Generator& generator) {
    check_multinomial(weights, num_samples, replacement);
    const bool race = !replacement || num_samples == 1;
    return race ? draw_without_replacement(weights, num_samples, generator)
                : draw_with_replacement(weights, num_samples, generator);
}

}  // namespace mini
// [lab08 file]
