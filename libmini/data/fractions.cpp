#include "libmini/data/fractions.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "libmini/core/error.hpp"

namespace mini::data {
namespace {

// Rounding errors: nine times 1/9 sum to slightly more than 1, seven times 1/7 to less.
constexpr double kRoundingSlack = 1e-9;

}  // namespace

void check_fractions(const std::vector<double>& sizes) {
    double total = 0;
    for (const double size : sizes) {
        if (!(size > 0))
            throw UsageError("DataPartitioner: the fractions ", sizes,
                             " must all be positive");
        total += size;
    }
    if (!(total <= 1 + kRoundingSlack))
        throw UsageError("DataPartitioner: the fractions ", sizes, " sum to ", total,
                         " but must not sum to more than 1");
}

void assign_remainder_to(std::vector<int64_t>& lengths, const std::vector<double>& sizes,
                         int64_t n) {
    const double covered = std::accumulate(sizes.begin(), sizes.end(), kRoundingSlack);
    const int64_t total =
        std::min(n, static_cast<int64_t>(covered * static_cast<double>(n)));
    const int64_t given = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    for (int64_t k = 0; k < total - given; ++k)
        ++lengths[static_cast<size_t>(k) % lengths.size()];
}

}  // namespace mini::data
