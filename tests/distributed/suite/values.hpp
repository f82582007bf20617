// Values with exact sums, products, minima and maxima in every dtype, and tensors of such
// values.
//
// The values repeat after a prime number of elements: a misplaced block is still
// detected, and a million values are computed quickly.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::dist::suite {

/// The elements of a tensor, row by row, as bytes.
using Bytes = std::vector<std::byte>;

/// Returns `n` elements: value(i) for each i below the period, and these values again and
/// again.
Bytes repeat(DType dtype, int64_t n, const std::function<double(int64_t)>& value);

/// Returns the input of rank `rank` to a reduction by `op`. Each `block` has its own
/// values.
Bytes share(DType dtype, int64_t n, ReduceOp op, int rank, int block = 0);

/// Returns the result of a reduction by `op` of the shares of `world_size` ranks.
Bytes reduction(DType dtype, int64_t n, ReduceOp op, int world_size, int block = 0);

/// Returns floats whose sum depends on the order of addition: thirds, infinities, two
/// kinds of NaN, -0.
Bytes difficult(DType dtype, int64_t n, int rank);

enum class Layout {
    kDense,       // (n)
    kEveryOther,  // (n), stride 2
    kTransposed,  // (n / 2, 2) or (n, 1), column by column
};
const char* layout_name(Layout layout);

/// A tensor in a given layout, and guard memory around its elements.
class GuardedTensor {
  public:
    /// Sets the elements to `bytes`, row by row.
    GuardedTensor(DType dtype, const Bytes& bytes, Layout layout);

    Tensor tensor() const { return tensor_; }

    /// Returns the elements, row by row. Throws Error if the memory around them was
    /// written.
    Bytes bytes() const;

  private:
    Layout layout_;
    Tensor memory_, tensor_;
};

std::vector<Tensor> tensors_of(const std::vector<GuardedTensor>& all);

/// Throws Error naming the first element that differs. `what` names the tensor in the
/// error, for example "rank 1's output 2".
void check_equal(const Bytes& actual, const Bytes& expected, DType dtype,
                 const std::string& what);

}  // namespace mini::dist::suite
