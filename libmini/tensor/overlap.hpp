// Where the elements of tensors are in memory: their order, and whether two tensors share
// elements.

#pragma once

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Returns the dimensions of x from the greatest stride to the least, so that
/// permute(x, memory_order(x)) is contiguous if a permutation of x is. Dimensions of
/// stride 0 stay where they are (`infer_dense_strides`).
Shape memory_order(const Tensor& x);

/// How the elements of two tensors overlap in memory.
enum class Overlap {
    kNone,
    kSame,     // each element of one has the address of the same element of the other
    kPartial,  // an element of one has the address of another element of the other
    kUnknown,  // the tensors' ranges overlap, and at least one range has gaps
};

/// Returns how x and y overlap (`at::get_overlap_status`).
Overlap overlap_of(const Tensor& x, const Tensor& y);

/// Throws Error if x has two elements with the same address, as an expanded tensor has
/// (`at::assert_no_internal_overlap`).
void check_no_internal_overlap(const char* name, const Tensor& x);

/// Returns overlap_of(x, y). Throws Error if x and y overlap partially: `name`, a function
/// that writes to x, would read elements of y that it has overwritten
/// (`at::assert_no_partial_overlap`).
Overlap check_no_partial_overlap(const char* name, const Tensor& x, const Tensor& y);

}  // namespace mini
