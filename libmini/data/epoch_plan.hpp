// EpochPlan: what a DataLoader asks of one epoch.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/data/dataset.hpp"

namespace mini::data {

/// Combines samples into a batch (`collate_fn`). Several threads call it concurrently.
using Collate = std::function<Batch(const std::vector<Example>&)>;

/// The work of one epoch, and how to do it.
struct EpochPlan {
    std::shared_ptr<const Dataset> dataset;
    std::vector<std::vector<int64_t>> batches;  // indices into the dataset
    size_t first = 0;                           // the batch to start with
    Collate collate;                            // if empty: Dataset::get_batch
    uint64_t base_seed = 0;                     // workers seed batch k with base_seed + k
    int num_workers = 0;
    int prefetch_factor = 2;
    std::chrono::milliseconds timeout{};  // per batch
};

}  // namespace mini::data
