// Transforms: functions that are applied to a sample's data when it is read.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/data/dataset.hpp"

namespace mini::data {

/// Maps one tensor, often an image (C, H, W), to another. Several threads may call a
/// transform concurrently. Random transforms draw from the calling thread's default
/// generator; each DataLoader worker seeds its generator before each batch.
using Transform = std::function<Tensor(const Tensor&)>;

/// `dataset` with `transform` applied to each sample's data; targets are unchanged.
class TransformedDataset : public Dataset {
  public:
    /// Throws UsageError if there is no dataset or no transform.
    TransformedDataset(std::shared_ptr<const Dataset> dataset, Transform transform)
        : dataset_(std::move(dataset)), transform_(std::move(transform)) {
        if (!dataset_) throw UsageError("TransformedDataset: no dataset was given");
        if (!transform_) throw UsageError("TransformedDataset: no transform was given");
    }
    int64_t size() const override { return dataset_->size(); }
    Example get(int64_t index) const override {
        Example example = dataset_->get(index);
        example.data = transform_(example.data);
        return example;
    }

  private:
    std::shared_ptr<const Dataset> dataset_;
    Transform transform_;
};

}  // namespace mini::data
