// Distributed synchronous SGD: the central part of PyTorch's tutorial "Writing
// Distributed Applications with PyTorch". Every rank calls:
//
//     start_alike           gives all ranks the same parameters
//     partition_dataset     this rank's part of the data, in batches
//     train_epoch           forward, backward, average the gradients, step
//
// The replicas start equal and make the same step each time, so they stay equal. The
// library also has partition_dataset and average_gradients; the training loop is written
// out here, because these thirty lines are data-parallel training.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/data/partition_dataset.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/optimizer.hpp"

namespace tutorial {

/// Gives every rank the parameters and buffers of rank 0, by one broadcast per tensor.
/// Blocks until all broadcasts are complete. REQUIRES: the same module on all ranks.
void start_alike(const mini::nn::Module& model, mini::dist::ProcessGroup& group);

/// Returns this rank's part of `dataset`: 1 / world size of the samples, by
/// DataPartitioner with its default seed 1234, in shuffled batches of int(batch_size /
/// world size) samples. All parts have the same length, so all ranks have the same number
/// of batches: with one more batch on one rank, its last all-reduce would wait for ranks
/// that have finished. REQUIRES: batch_size is at least the world size, and the dataset
/// has at least as many samples.
mini::data::PartitionedDataset partition_dataset(
    const std::shared_ptr<const mini::data::Dataset>& dataset, int64_t batch_size,
    const mini::dist::ProcessGroup& group);

/// Trains one epoch; each step uses the mean gradient over all ranks. Returns the mean of
/// cross_entropy over batches and ranks; each batch's loss is computed before its step.
/// Blocks until the epoch is complete. REQUIRES: every rank calls it, with the same
/// number of batches.
double train_epoch(mini::nn::Module& model, mini::data::DataLoader& loader,
                   mini::optim::Optimizer& optimizer, mini::dist::ProcessGroup& group);

}  // namespace tutorial
