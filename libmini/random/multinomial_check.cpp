#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/random/multinomial.hpp"

namespace mini {

void check_multinomial(std::span<const double> weights, int64_t num_samples,
                       bool replacement) {
    if (num_samples < 1)
        throw UsageError("multinomial: num_samples is ", num_samples, ", not 1 or more");
    int64_t positive = 0;
    double total = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
        if (!std::isfinite(weights[i]) || weights[i] < 0)
            throw UsageError("multinomial: weight ", i, " is ", weights[i],
                             ", not a finite number of 0 or more");
        positive += weights[i] > 0;
        total += weights[i];
    }
    if (positive == 0)
        throw UsageError("multinomial: none of the ", weights.size(),
                         " weights is positive, so there is nothing to draw");
    if (!std::isfinite(total))
        throw UsageError("multinomial: the weights add up to ", total,
                         "; divide them all by the largest");
    if (!replacement && positive < num_samples)
        throw UsageError("multinomial: ", num_samples,
                         " samples without replacement, but only ", positive, " of the ",
                         weights.size(), " weights are positive");
}

}  // namespace mini
