#include "libmini/extras/cudasim/async_copy.hpp"

#include <cstddef>
#include <numeric>

namespace mini::sim {

void AsyncCopies::commit() {
    groups_.push_back(copies_.size() - grouped_);
    grouped_ = copies_.size();
}

std::vector<AsyncCopy> AsyncCopies::take(size_t groups) {
    if (groups >= groups_.size()) return {};
    const auto end = groups_.end() - static_cast<std::ptrdiff_t>(groups);
    const auto count = std::accumulate(groups_.begin(), end, std::ptrdiff_t{0});
    const std::vector<AsyncCopy> landed(copies_.begin(), copies_.begin() + count);
    copies_.erase(copies_.begin(), copies_.begin() + count);
    groups_.erase(groups_.begin(), end);
    grouped_ -= static_cast<size_t>(count);
    return landed;
}

void AsyncCopies::clear() {
    copies_.clear();
    groups_.clear();
    grouped_ = 0;
}

}  // namespace mini::sim
