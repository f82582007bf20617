// Python's random.shuffle, from nothing but random bits: the bonus of the lab.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/random/python_random.hpp"

namespace mini::labs {

/// Brings `values` into the order of CPython's random.shuffle. Draws with
/// random.getrandbits only. The places are filled from the last one to the second: the
/// value for a place comes from any place that is not filled yet, this place included, and
/// is exchanged with the value there. The number of such a place, below a bound b, is
/// drawn by rejection: as many bits as b has in binary (10 has 4, 16 has 5), again and
/// again until they are below b. So each of the n! orders has the same probability.
void python_shuffle(std::vector<int64_t>& values, PythonRandom& random);

}  // namespace mini::labs
