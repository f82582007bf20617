// EpochPlan: the batches of one epoch of a DataLoader, and the options for fetching them.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// Combines samples into a batch (`collate_fn`). Several workers call the function
/// concurrently.
using Collate = std::function<Batch(const std::vector<Example>&)>;

/// The batches of one epoch, and the options for fetching them.
struct EpochPlan {
    std::shared_ptr<const Dataset> dataset;
    std::vector<std::vector<int64_t>> batches;  // indices into the dataset
    size_t first = 0;                           // the index of the first batch
    Collate collate;                            // if empty: Dataset::get_batch
    uint64_t base_seed = 0;                     // the seed of batch k is base_seed + k
    int num_workers = 0;
    int prefetch_factor = 2;
    bool pin_memory = false;              // Tensor::pin_memory of each batch
    std::chrono::milliseconds timeout{};  // per batch that a worker fetches
};

}  // namespace mini::data
