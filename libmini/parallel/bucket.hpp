// Buckets: gradients that travel together.
//
// One all-reduce a gradient pays a message's latency for each; one for all of them cannot
// begin before the last is there. So gradients that are ready at about the same time
// share a bucket:
//
//     parameters, first to last    conv1.w conv1.b conv2.w conv2.b fc1.w fc1.b fc2.w fc2.b
//     gradients become ready         <------------------------------------------------
//     buckets, in launch order     [ 1: conv2.b conv2.w conv1.b conv1.w ][ 0: fc2.b ... fc1.w ]

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// Groups the indices 0 .. n-1 of `tensors`, in order, into buckets of one dtype
/// (`torch.distributed._compute_bucket_assignment_by_size`). A tensor joins the open
/// bucket first; the bucket is closed once it holds `limits[k]` bytes or more, k counting
/// the closed buckets of that dtype, the last limit standing for all after it. Buckets
/// are in the order of their first index. Throws UsageError when `limits` is empty or has
/// a number below 1.
std::vector<std::vector<size_t>> compute_bucket_assignment(
    const std::vector<Tensor>& tensors, const std::vector<int64_t>& limits);

/// A flat buffer for the gradients of several parameters, and what is known of them.
class Bucket {
  public:
    /// A buffer for the gradients of parameters[index] for each of `indices`, in this order;
    /// `parameters` is the reducer's whole list. The buffer is zero, on the device of these
    /// parameters. REQUIRES: `indices` is not empty, and these parameters have one dtype.
    Bucket(std::vector<size_t> indices, const std::vector<Tensor>& parameters);

    const std::vector<size_t>& indices() const { return indices_; }
    int64_t bytes() const { return static_cast<int64_t>(buffer_.bytes()); }
    Tensor buffer() const { return buffer_; }

    /// The part of the buffer that belongs to the `slot`-th parameter, in its shape.
    const Tensor& gradient(size_t slot) const { return gradients_[slot]; }
    const std::vector<Tensor>& gradients() const { return gradients_; }

    /// Forgets which gradients are there.
    void reset();

    /// Copies `gradient` into the view of `slot`, unless it is that view already, multiplies
    /// it there by `share`, and counts it: the bucket is full when all have been counted.
    /// An undefined gradient is zero. A gradient that is copied again before reset()
    /// replaces the first one, and is not counted again.
    void copy_gradient(size_t slot, const Tensor& gradient, float share);
    bool is_ready(size_t slot) const { return ready_[slot]; }
    bool is_full() const { return pending_ == 0; }

    std::function<void()> finish;  // waits for the reduction; empty before the launch

  private:
    std::vector<size_t> indices_;
    Tensor buffer_;
    std::vector<Tensor> gradients_;  // views of buffer_
    std::vector<bool> ready_;
    size_t pending_;
};

}  // namespace mini::parallel
