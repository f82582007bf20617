// partition_dataset: gives each rank its own part of a dataset, as in the tutorial.
//
//     world size 4     samples     1/4 each, chosen once by DataPartitioner
//                      batch size  int(128 / 4) = 32 per rank, so 128 in all
//
// In each epoch a rank shuffles its own part; it never reads another rank's part.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "libmini/data/loader.hpp"
#include "libmini/data/partition.hpp"

namespace mini::data {

struct PartitionDatasetOptions {
    std::optional<int> world_size = std::nullopt;  // if absent: current_world()->size
    std::optional<int> rank = std::nullopt;        // if absent: current_world()->rank
    int64_t batch_size = 128;                      // of all ranks together
    DataPartitionerOptions partitioner = {};
};

/// The result of `auto [train_set, bsz] = partition_dataset(dataset);`
struct PartitionedDataset {
    DataLoader train_set;  // shuffles this rank's part
    int64_t bsz;           // this rank's batch size
};

/// Returns a loader for this rank's part of the dataset (the tutorial's
/// `partition_dataset`). DataPartitioner gives each rank the fraction 1 / world size, and
/// the loader's batches have int(batch_size / world size) samples. Throws UsageError when
/// rank or world size is missing and init_process_group has not been called on this
/// thread (choose_replica, replica.hpp), when there are more ranks than samples in a
/// batch, or when the dataset has no sample for this rank. The last two errors name the
/// batch or the number of samples, and the number of ranks. Throws UsageError if `dataset`
/// is null.
PartitionedDataset partition_dataset(std::shared_ptr<const Dataset> dataset,
                                     const PartitionDatasetOptions& options = {});

}  // namespace mini::data
