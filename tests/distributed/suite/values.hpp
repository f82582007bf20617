// Numbers whose sums, products and the like are exact in every type, and tensors of them.
//
// Values repeat after a prime number of elements, so that a block that lands in the wrong
// place shows, and so that a million of them are made quickly.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::dist::suite {

/// The elements of a tensor, row by row, as they lie in memory.
using Bytes = std::vector<std::byte>;

/// `n` elements: value(i) for i below the period, and so on from the beginning.
Bytes repeat(DType dtype, int64_t n, const std::function<double(int64_t)>& value);

/// What rank `rank` brings to a reduction by `op`, and what comes of it. `block`: as if
/// these were the numbers of another tensor.
Bytes share(DType dtype, int64_t n, ReduceOp op, int rank, int block = 0);
Bytes reduction(DType dtype, int64_t n, ReduceOp op, int world_size, int block = 0);

/// Floats that no two orders of adding bring to the same bits: thirds, infinities, two
/// kinds of NaN, -0.
Bytes difficult(DType dtype, int64_t n, int rank);

enum class Layout {
    kDense,       // (n)
    kEveryOther,  // (n), stride 2
    kTransposed,  // (n / 2, 2) or (n, 1), column by column
};
const char* layout_name(Layout layout);

/// A tensor in some layout, and memory around it that must not be written.
class GuardedTensor {
  public:
    /// `bytes` become its elements, row by row.
    GuardedTensor(DType dtype, const Bytes& bytes, Layout layout);

    Tensor tensor() const { return tensor_; }

    /// Its elements, row by row. Throws Error when something else was written to.
    Bytes bytes() const;

  private:
    Layout layout_;
    Tensor memory_, tensor_;
};

std::vector<Tensor> tensors_of(const std::vector<GuardedTensor>& all);

/// Throws Error naming the first element that differs. `what`: "rank 1's output 2".
void check_equal(const Bytes& actual, const Bytes& expected, DType dtype,
                 const std::string& what);

}  // namespace mini::dist::suite
