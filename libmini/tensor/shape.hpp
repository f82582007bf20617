// Shapes and strides: where the elements of a tensor are in its storage.
//
//     storage   [ 0 1 2 3 4 5 ]                    element (i, j) is at position
//     shape (2, 3), strides (3, 1), offset 0       offset + i * 3 + j * 1
//     shape (3, 2), strides (1, 3), offset 0       the transpose: offset + i * 1 + j * 3
//     shape (2, 2), strides (3, 1), offset 1       the last two columns
//
// Strides, offsets and positions count elements, not bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini {

/// The sizes of the dimensions, outermost first; () is the shape of a scalar.
using Shape = std::vector<int64_t>;

/// Throws ShapeError with the given parts when `condition` does not hold.
template <typename... Parts>
void check_shape(bool condition, const Parts&... parts) {
    if (!condition) throw ShapeError(parts...);
}

/// Returns a * b or a + b. Throws ShapeError, which names `shape`, if the result is above
/// 2^63 - 1. REQUIRES: a and b are not negative.
int64_t checked_product(int64_t a, int64_t b, const Shape& shape);
int64_t checked_sum(int64_t a, int64_t b, const Shape& shape);

/// Returns the number of elements of a shape. Throws ShapeError for a negative size or an
/// overflow.
int64_t element_count(const Shape& shape);

/// Returns the strides of a contiguous tensor of this shape: the last dimension has
/// stride 1, each other one the product of the sizes after it. In these products a size
/// of 0 counts as 1. Throws ShapeError if a product is above 2^63 - 1, also the product
/// of all sizes.
Shape contiguous_strides(const Shape& shape);

/// Returns whether a tensor's elements are stored in row-major order without gaps. The
/// stride of a dimension of size 1 is not used, and may be any number. A tensor without
/// elements is contiguous.
bool is_contiguous(const Shape& shape, const Shape& strides);

/// Returns the largest storage position that is used by the elements of a tensor whose
/// first element is at `offset`; -1 if there are no elements. Throws ShapeError if the
/// position is above 2^63 - 1. REQUIRES: there are as many strides as sizes, and neither
/// the strides nor the offset are negative.
int64_t last_position(const Shape& shape, const Shape& strides, int64_t offset);

/// Throws ShapeError unless a tensor with this layout is in a storage of `available`
/// elements: unless it has a stride for each dimension, neither a stride nor the offset
/// is negative, and its last element is in the storage.
void check_layout(const Shape& shape, const Shape& strides, int64_t offset,
                  int64_t available);

/// Returns the index of dimension d; -1 is the last dimension, -2 the one before it.
/// Throws ShapeError, which begins with the name of the calling function, if the shape
/// has no such dimension.
size_t dimension(const char* function, const Shape& shape, int64_t d);

}  // namespace mini
