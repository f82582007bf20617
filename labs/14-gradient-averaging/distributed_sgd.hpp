// Distributed synchronous SGD: the central part of PyTorch's tutorial "Writing
// Distributed Applications with PyTorch". Every rank calls:
//
//     start_alike           gives all ranks the same parameters
//     partition_dataset     returns this rank's part of the data, in batches
//     train_epoch           in each step: forward, backward, average the gradients, step
//     train_epoch_locally   the same, but averages the parameters in some steps only
//
// The replicas start equal and make the same step each time, so they stay equal.
// The library also has partition_dataset and average_gradients; the training loop is
// written out here, because these few lines are data-parallel training. The last function
// is not in the tutorial: it is local SGD, which communicates less often.

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
/// of batches: if one rank had one batch more, its last all-reduce would wait for ranks
/// that have finished. REQUIRES: batch_size and the number of samples are at least the
/// world size.
mini::data::PartitionedDataset partition_dataset(
    const std::shared_ptr<const mini::data::Dataset>& dataset, int64_t batch_size,
    const mini::dist::ProcessGroup& group);

/// Trains one epoch; each step uses the mean gradient over all ranks. Returns the mean of
/// cross_entropy over batches and ranks; each batch's loss is computed before its step.
/// Blocks until the epoch is complete. REQUIRES: every rank calls it, with the same
/// number of batches.
double train_epoch(mini::nn::Module& model, mini::data::DataLoader& loader,
                   mini::optim::Optimizer& optimizer, mini::dist::ProcessGroup& group);

/// Trains one epoch by local SGD: in each step, a rank uses only its own gradients. Calls
/// average_parameters, which replaces the models of all ranks by their mean, after every
/// `period` steps of the epoch and after its last step; only once if both apply. Does not
/// average the optimizer's state, such as momentum. Returns the mean of cross_entropy
/// over batches and ranks; each batch's loss is computed before its step. Blocks until
/// the epoch is complete; then all replicas are bitwise identical. Throws UsageError if
/// `period` is below 1. REQUIRES: every rank calls it, with the same period and the same
/// number of batches.
double train_epoch_locally(mini::nn::Module& model, mini::data::DataLoader& loader,
                           mini::optim::Optimizer& optimizer,
                           mini::dist::ProcessGroup& group, int64_t period);

}  // namespace tutorial
