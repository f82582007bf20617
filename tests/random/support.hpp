// Helpers for the tests of libmini/random.

#pragma once

#include <cstddef>
#include <vector>

#include "libmini/random/random.hpp"

namespace mini::test {

/// Returns the next `n` draws from the standard normal distribution.
inline std::vector<float> normals(size_t n, Generator& generator) {
    std::vector<float> values(n);
    fill_normal(values, 0, 1, generator);
    return values;
}

}  // namespace mini::test
