// Distributed synchronous SGD: the heart of PyTorch's tutorial "Writing Distributed
// Applications with PyTorch". Every rank does this:
//
//     start_alike           the same parameters on all ranks
//     partition_dataset     this rank's part of the data, in batches
//     train_epoch           forward, backward, average the gradients, step
//
// Alike at the start and changed alike in every step, the replicas stay one model. The
// library has partition_dataset and average_gradients too; what trains is written out
// here, because these thirty lines are data-parallel training.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/data/partition_dataset.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/optimizer.hpp"

namespace tutorial {

/// Gives every rank the parameters and buffers of rank 0, by one broadcast a tensor.
/// Blocks until done. REQUIRES: the same module on all ranks.
void start_alike(const mini::nn::Module& model, mini::dist::ProcessGroup& group);

/// This rank's part of `dataset`, 1 / world size of it by DataPartitioner with its seed
/// 1234, in shuffled batches of int(batch_size / world size) samples. All parts are
/// equally long, so all ranks have equally many batches: with one more on one rank, its
/// last all-reduce would wait for ranks that have ended. REQUIRES: batch_size is at
/// least the world size, and the dataset has at least as many samples.
mini::data::PartitionedDataset partition_dataset(
    const std::shared_ptr<const mini::data::Dataset>& dataset, int64_t batch_size,
    const mini::dist::ProcessGroup& group);

/// Trains one epoch by the mean gradient over all ranks in each step. Returns the mean
/// over batches and ranks of cross_entropy, each batch's before its step. Blocks; every
/// rank calls it, with equally many batches.
double train_epoch(mini::nn::Module& model, mini::data::DataLoader& loader,
                   mini::optim::Optimizer& optimizer, mini::dist::ProcessGroup& group);

}  // namespace tutorial
