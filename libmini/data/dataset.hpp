// Dataset: samples accessed by index (`torch.utils.data.Dataset`).

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::data {

/// One sample: its data, such as an image (C, H, W), and its target, such as a class (a
/// scalar int64).
struct Example {
    Example(Tensor input, Tensor expected)
        : data(std::move(input)), target(std::move(expected)) {}
    Example(Tensor input, int64_t label)
        : Example(std::move(input),
                  Tensor::from(std::vector<int64_t>{label}, {}, Device::cpu())) {}

    Tensor data;
    Tensor target;

    /// Returns the class. REQUIRES: the target is a class.
    int64_t label() const { return static_cast<int64_t>(target.item()); }
};

/// The samples of one batch, stacked: data (N, ...), target (N, ...); class targets are
/// (N,) int64.
struct Batch {
    Tensor data;
    Tensor target;

    int64_t size() const { return data.size(0); }
};

/// A map-style dataset. Several threads, such as the workers of a DataLoader, may call
/// its functions concurrently.
class Dataset {
  public:
    virtual ~Dataset() = default;

    /// Returns the number of samples (`len`).
    virtual int64_t size() const = 0;

    /// Returns sample `index`. Throws Error naming index and size when the index is out
    /// of range.
    virtual Example get(int64_t index) const = 0;

    /// Returns the samples `indices`, stacked in this order. The default implementation
    /// collates the samples of get_each(); a dataset that stores its samples in one
    /// tensor may fill the batch directly (`Dataset.__getitems__`).
    virtual Batch get_batch(std::span<const int64_t> indices) const;

  protected:
    /// Throws Error, as get() must, unless 0 <= index < size().
    void check_index(int64_t index) const;
};

/// Returns the samples `indices`, each from one call of get(). If get() throws a
/// std::exception, throws an Error that names the index, with the exception nested in it.
std::vector<Example> get_each(const Dataset& dataset, std::span<const int64_t> indices);

/// Returns the samples stacked: data (N, ...), target (N, ...) (`default_collate`).
/// Throws UsageError for an empty list, ShapeError naming the first sample whose shape or
/// dtype differs from sample 0.
Batch collate(const std::vector<Example>& examples);

}  // namespace mini::data
