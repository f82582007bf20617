// Buckets: groups of gradients that are all-reduced together.
//
// One all-reduce per gradient pays the latency of a message for each gradient; one
// all-reduce for all gradients cannot begin before the last gradient is ready. So
// gradients that become ready at about the same time share a bucket:
//
//     parameters, in order     conv1.w conv1.b conv2.w conv2.b fc1.w fc1.b fc2.w fc2.b
//     gradients become ready     <------------------------------------------------
//     buckets, launched 0, 1   [ 1: conv2.b ... conv1.w      ][ 0: fc2.b ... fc1.w   ]

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// Groups the indices 0 .. n-1 of `tensors`, in order, into buckets of one dtype
/// (`torch.distributed._compute_bucket_assignment_by_size`). A tensor first joins the
/// open bucket of its dtype; then the bucket is closed if it holds at least `limits[k]`
/// bytes, where k is the number of closed buckets of that dtype. The last limit also
/// applies to all later buckets. Returns the buckets sorted by their first index. Throws
/// UsageError when `limits` is empty or contains a number below 1.
std::vector<std::vector<size_t>> compute_bucket_assignment(
    const std::vector<Tensor>& tensors, const std::vector<int64_t>& limits);

/// Like compute_bucket_assignment, but goes from the last tensor to the first, roughly in
/// the order of the backward pass: the first bucket begins with index n-1. The returned
/// numbers are still indices of `tensors`; they decrease within each bucket, and the
/// buckets are sorted by their first index, the highest first.
std::vector<std::vector<size_t>> compute_bucket_assignment_from_last(
    const std::vector<Tensor>& tensors, const std::vector<int64_t>& limits);

/// A flat buffer for the gradients of several parameters; it counts which are ready. Copies
/// of a Bucket share buffer and counts.
class Bucket {
  public:
    /// Creates a buffer of zeros for the gradients of parameters[index], for each index
    /// in `indices`, in this order; `parameters` is the reducer's whole list. The buffer
    /// is on the device of these parameters. REQUIRES: `indices` is not empty, and these
    /// parameters have one dtype.
    Bucket(std::vector<size_t> indices, const std::vector<Tensor>& parameters);

    const std::vector<size_t>& indices() const;
    int64_t bytes() const { return static_cast<int64_t>(buffer().bytes()); }
    Tensor buffer() const;

    /// Returns the view of the buffer for parameter indices()[slot], in its shape.
    const Tensor& gradient(size_t slot) const { return gradients()[slot]; }
    const std::vector<Tensor>& gradients() const;

    /// Marks all gradients as not ready, and empties `finish`.
    void reset();

    /// Copies `gradient` into the view of `slot`, unless it shares the view's storage;
    /// multiplies the view by `share`; and counts the gradient as ready. The bucket is
    /// full when all gradients have been counted. An undefined gradient means zeros. A
    /// second copy, of another tensor, to the same slot before reset() replaces the first,
    /// and is not counted again.
    void copy_gradient(size_t slot, const Tensor& gradient, float share);
    bool is_ready(size_t slot) const;
    bool is_full() const;

    std::function<void()> finish;  // waits for the reduction; empty before the launch

  private:
    struct Impl;  // what a bucket consists of: bucket.cpp defines it
    std::shared_ptr<Impl> impl_;
};

}  // namespace mini::parallel
