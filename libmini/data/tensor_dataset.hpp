// TensorDataset: samples stored in memory as the rows of two tensors.
//
//     data    (N, ...)   row 0 | row 1 | row 2 | ...
//     target  (N, ...)   row 0 | row 1 | row 2 | ...
//                                  sample 1
//
// get_batch() copies each row with one copy_bytes.

#pragma once

#include <cstdint>
#include <span>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// `torch.utils.data.TensorDataset` of two tensors. Targets are classes, (N,) int64, or
/// any other tensor: (N,) float32 for BCELoss, (N, classes) float32, ...
class TensorDataset : public Dataset {
  public:
    /// Keeps both tensors; copies a tensor only if it is not contiguous. Throws
    /// ShapeError naming both shapes unless both have the same number of rows, UsageError
    /// for an undefined tensor.
    TensorDataset(const Tensor& data, const Tensor& target);

    int64_t size() const override { return data_.size(0); }

    /// Returns row `index` of both tensors, as views, without a copy.
    Example get(int64_t index) const override;
    Batch get_batch(std::span<const int64_t> indices) const override;

  private:
    Tensor data_;    // (N, ...), contiguous
    Tensor target_;  // (N, ...), contiguous
};

}  // namespace mini::data
