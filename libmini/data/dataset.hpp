// Dataset: something with a size that gives sample number i (`torch.utils.data.Dataset`).

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::data {

/// One sample: an image (C, H, W) or any other tensor, and what is to be learned of it:
/// its class, a scalar int64, or any other tensor.
struct Example {
    Example(Tensor data, Tensor target)
        : data(std::move(data)), target(std::move(target)) {}
    Example(Tensor data, int64_t label)
        : Example(std::move(data),
                  Tensor::from(std::vector<int64_t>{label}, {}, Device::cpu())) {}

    Tensor data;
    Tensor target;

    /// The class. REQUIRES: the target is one.
    int64_t label() const { return static_cast<int64_t>(target.item()); }
};

/// Samples of one batch stacked: data (N, ...), target (N, ...); of classes (N,) int64.
struct Batch {
    Tensor data;
    Tensor target;

    int64_t size() const { return data.size(0); }
};

/// A dataset by index. Safe to read from several threads at once: loaders' workers do.
class Dataset {
  public:
    virtual ~Dataset() = default;

    /// How many samples there are (`len`).
    virtual int64_t size() const = 0;

    /// Sample `index`. Throws Error naming index and size when there is none.
    virtual Example get(int64_t index) const = 0;

    /// The samples `indices`, stacked in this order. As written here it collates what
    /// get_each() returns; a dataset that knows its layout may fill the batch directly
    /// (`Dataset.__getitems__`).
    virtual Batch get_batch(std::span<const int64_t> indices) const;
};

/// The samples `indices`, one by one. An exception of get() becomes an Error that names
/// the index and has the exception nested in it.
std::vector<Example> get_each(const Dataset& dataset, std::span<const int64_t> indices);

/// Stacks samples: data (N, ...), target (N, ...) (`default_collate`). Throws UsageError
/// for none, ShapeError naming the sample whose shape or dtype differs from the first
/// one's.
Batch collate(const std::vector<Example>& examples);

}  // namespace mini::data
