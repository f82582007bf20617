#include "libmini/extras/cudasim/order.hpp"

#include <algorithm>
#include <cstddef>

namespace mini::sim {

void join(Clock& clock, const Clock& other) {
    if (clock.size() < other.size()) clock.resize(other.size());
    for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

}  // namespace mini::sim
