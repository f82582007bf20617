#include "libmini/data/transform.hpp"

#include <cstdint>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::data {

TransformedDataset::TransformedDataset(std::shared_ptr<const Dataset> dataset,
                                       Transform transform)
    : dataset_(std::move(dataset)), transform_(std::move(transform)) {
    if (!dataset_) throw UsageError("TransformedDataset: no dataset was given");
    if (!transform_) throw UsageError("TransformedDataset: no transform was given");
}

int64_t TransformedDataset::size() const { return dataset_->size(); }

Example TransformedDataset::get(int64_t index) const {
    Example example = dataset_->get(index);
    example.data = transform_(example.data);
    return example;
}

}  // namespace mini::data
