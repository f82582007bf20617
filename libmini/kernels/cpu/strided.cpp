#include "libmini/kernels/cpu/strided.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libmini/core/error.hpp"  // MINI_TODO of the starter

namespace mini::kernels::cpu {

template <size_t Arrays>
StridedLoop<Arrays>::StridedLoop(std::span<const int64_t> shape,
                                 std::array<std::span<const int64_t>, Arrays> strides) {
    dimensions_.reserve(shape.size() + 1);
    for (size_t d = shape.size(); d-- > 0;) {
        Offsets stride;
        for (size_t k = 0; k < Arrays; ++k) stride[k] = strides[k][d];
        add_outer_dimension(shape[d], stride);
    }
    if (dimensions_.empty()) dimensions_.push_back({1, Offsets{}});
    for (const Dimension& dimension : dimensions_) size_ *= dimension.extent;
}

template <size_t Arrays>
void StridedLoop<Arrays>::add_outer_dimension(int64_t extent, const Offsets& strides) {
    // [lab01.6] Extend the last dimension if every array allows it; else add a dimension.
    if (extent == 1) return;
    bool merges = !dimensions_.empty();
    for (size_t k = 0; merges && k < Arrays; ++k) {
        const Dimension& inner = dimensions_.back();
        merges = strides[k] == inner.extent * inner.strides[k];
    }
    if (merges)
        dimensions_.back().extent *= extent;
    else
        dimensions_.push_back({extent, strides});
    // [lab01.6]
}

template <size_t Arrays>
typename StridedLoop<Arrays>::Offsets StridedLoop<Arrays>::offsets_of(
    int64_t run, int64_t index) const {
    Offsets offsets{};
    // [lab01.6] Add index times the step within a run, then each outer dimension's share.
    for (size_t k = 0; k < Arrays; ++k) offsets[k] = index * steps()[k];
    for (size_t d = 1; d < dimensions_.size(); ++d) {
        const Dimension& dimension = dimensions_[d];
        for (size_t k = 0; k < Arrays; ++k)
            offsets[k] += run % dimension.extent * dimension.strides[k];
        run /= dimension.extent;
    }
    // [lab01.6]
    return offsets;
}

template class StridedLoop<1>;
template class StridedLoop<2>;

}  // namespace mini::kernels::cpu
