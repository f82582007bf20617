#include "libmini/data/tensor_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::data {
namespace {

// Copies `rows` of x (N, ...) into a new tensor. REQUIRES: x is contiguous, 0 <= row < N.
Tensor gather_rows(const Tensor& x, std::span<const int64_t> rows) {
    Shape shape = x.shape();
    shape[0] = static_cast<int64_t>(rows.size());
    Tensor gathered = x.new_empty(shape);
    if (gathered.bytes() == 0) return gathered;

    const size_t row_bytes = gathered.bytes() / rows.size();
    std::byte* to = gathered.raw_data();
    for (const int64_t row : rows) {
        copy_bytes(to, x.device(), x.raw_data() + static_cast<size_t>(row) * row_bytes,
                   x.device(), row_bytes);
        to += row_bytes;
    }
    return gathered;
}

}  // namespace

TensorDataset::TensorDataset(const Tensor& data, const Tensor& target) {
    if (!data.defined() || !target.defined())
        throw UsageError("TensorDataset: no ", data.defined() ? "target" : "data",
                         " was given");
    check_shape(data.dim() > 0 && target.dim() > 0 && data.size(0) == target.size(0),
                "TensorDataset: data is ", data.shape(), " but target is ",
                target.shape(), "; both need one row per sample");
    data_ = ops::contiguous(data);
    target_ = ops::contiguous(target);
}

Example TensorDataset::get(int64_t index) const {
    check_index(index);
    return {ops::select(data_, 0, index), ops::select(target_, 0, index)};
}

Batch TensorDataset::get_batch(std::span<const int64_t> indices) const {
    for (const int64_t index : indices) check_index(index);
    return {gather_rows(data_, indices), gather_rows(target_, indices)};
}

}  // namespace mini::data
