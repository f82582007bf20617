#include "libmini/tensor/overlap.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini {
namespace {

// Returns whether the strides do not tell which dimension is the inner one.
bool is_ambiguous(const Tensor& x, size_t a, size_t b) {
    const int64_t stride = x.strides()[a], other = x.strides()[b];
    return stride == 0 || other == 0 || (stride == other && x.shape()[a] >= x.shape()[b]);
}

// Returns whether the elements fill a range of memory without gaps.
bool is_dense(const Tensor& x) {
    const Shape order = memory_order(x);
    int64_t stride = 1;  // of the next dimension, from the innermost on
    for (size_t i = order.size(); i-- > 0;) {
        const auto d = static_cast<size_t>(order[i]);
        if (x.shape()[d] != 1 && x.strides()[d] != stride) return false;
        stride *= x.shape()[d];
    }
    return true;
}

// Returns the number of elements from the first to the last, inclusive.
int64_t extent(const Tensor& x) {
    int64_t last = 0;
    for (size_t d = 0; d < x.shape().size(); ++d)
        last += (x.shape()[d] - 1) * x.strides()[d];
    return last + 1;
}

}  // namespace

Shape memory_order(const Tensor& x) {
    Shape order(x.shape().size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
    // An insertion sort from the last dimension, which passes over ambiguous dimensions.
    for (size_t i = order.size(); i-- > 0;) {
        size_t moved = i;
        for (size_t k = i + 1; k < order.size(); ++k) {
            const auto a = static_cast<size_t>(order[moved]);
            const auto b = static_cast<size_t>(order[k]);
            if (is_ambiguous(x, a, b)) continue;
            if (x.strides()[a] > x.strides()[b]) break;
            std::swap(order[moved], order[k]);
            moved = k;
        }
    }
    return order;
}

Overlap overlap_of(const Tensor& x, const Tensor& y) {
    if (x.numel() == 0 || y.numel() == 0 || x.device() != y.device())
        return Overlap::kNone;
    const auto end = [](const Tensor& t) {
        return t.raw_data() + static_cast<size_t>(extent(t)) * item_size(t.dtype());
    };
    const std::byte *const x_begin = x.raw_data(), *const y_begin = y.raw_data();
    if (x_begin >= end(y) || y_begin >= end(x)) return Overlap::kNone;
    if (x_begin == y_begin && x.shape() == y.shape() && x.strides() == y.strides())
        return Overlap::kSame;
    return is_dense(x) && is_dense(y) ? Overlap::kPartial : Overlap::kUnknown;
}

void check_no_internal_overlap(const char* name, const Tensor& x) {
    for (size_t d = 0; d < x.shape().size(); ++d)
        MINI_CHECK(x.strides()[d] != 0 || x.shape()[d] < 2, name, ": a tensor of shape ",
                   x.shape(), " and strides ", x.strides(),
                   " has several elements at one address; clone() it first");
}

Overlap check_no_partial_overlap(const char* name, const Tensor& x, const Tensor& y) {
    const Overlap overlap = overlap_of(x, y);
    MINI_CHECK(overlap != Overlap::kPartial, name, ": the tensor of shape ", x.shape(),
               " and the source of shape ", y.shape(),
               " share some of their elements; clone() the source first");
    return overlap;
}

}  // namespace mini
