// TensorDataset: samples that lie in memory as the rows of two tensors.
//
//     data    (N, ...)   row 0 | row 1 | row 2 | ...
//     target  (N, ...)   row 0 | row 1 | row 2 | ...
//                                  sample 1
//
// A batch is gathered by copying rows, one memcpy each.

#pragma once

#include <cstdint>
#include <span>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// `torch.utils.data.TensorDataset` of two tensors. Targets are classes, (N,) int64, or
/// anything else: (N,) float32 for BCELoss, (N, classes) float32, ...
class TensorDataset : public Dataset {
  public:
    /// Holds on to both tensors without copying them, unless they are strided views.
    /// Throws ShapeError naming both shapes unless they have as many rows as each other,
    /// UsageError for a tensor that is undefined.
    TensorDataset(const Tensor& data, const Tensor& target);

    int64_t size() const override { return data_.size(0); }

    /// Row `index` of both: views, no copy.
    Example get(int64_t index) const override;
    Batch get_batch(std::span<const int64_t> indices) const override;

  private:
    void check_index(int64_t index) const;

    Tensor data_;    // (N, ...), contiguous
    Tensor target_;  // (N, ...), contiguous
};

}  // namespace mini::data
