// Transforms: what happens to a sample's data on its way out of a dataset.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// From one tensor, often an image (C, H, W), to another. Safe to call from several
/// threads at once; random ones draw from the calling thread's default generator, which
/// DataLoader seeds batch by batch in its workers.
using Transform = std::function<Tensor(const Tensor&)>;

/// `dataset` with `transform` applied to each sample's data; targets stay as they are.
class TransformedDataset : public Dataset {
  public:
    TransformedDataset(std::shared_ptr<const Dataset> dataset, Transform transform);
    int64_t size() const override;
    Example get(int64_t index) const override;

  private:
    std::shared_ptr<const Dataset> dataset_;
    Transform transform_;
};

}  // namespace mini::data
