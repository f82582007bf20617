// The parts of a training job that the options choose: the datasets and this rank's part of
// each batch, the module that averages gradients, the optimizer, and the learning rate
// scheduler.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/data/loader.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/lr_scheduler.hpp"
#include "libmini/optim/optimizer.hpp"
#include "libmini/parallel/replicated_module.hpp"
#include "libmini/training/options.hpp"

namespace mini::training {

/// The training and the test data.
struct JobData {
    std::shared_ptr<data::Dataset> train;
    std::shared_ptr<data::Dataset> test;
};

/// Loads the training and test data of `choice`. Blocks until the files are read; the
/// embedded digits are drawn when they are used. Throws BadFile.
JobData load_data(const data::DataChoice& choice);

/// Returns a loader of this rank's batches of the training data; all ranks have equally many.
/// With --order file, global batch k starts at sample batch_size * k, and rank r gets the
/// r-th of its equal contiguous parts; if world_size does not divide the size of the last
/// batch, its last samples (fewer than world_size) are dropped. The batches are in CPU memory:
/// pinned if `device`, on which the rank trains, is a GPU, so that the copy to the GPU does
/// not block. REQUIRES: the batch size is a multiple of the world size.
data::DataLoader training_loader(const Options& options, const JobData& data, int rank,
                                 int world_size, Device device);

/// Returns a loader of this rank's part of the test data. Each sample is in the part of
/// exactly one rank.
data::DataLoader test_loader(const JobData& data, int rank, int world_size);

/// Returns `model` wrapped according to --sync, the bucket options and --compress: with
/// --sync ddp a DistributedDataParallel, with --sync none null. Blocks until all ranks have
/// called it. REQUIRES: `model` outlives the result.
std::unique_ptr<parallel::ReplicatedModule> replicate(
    nn::Module& model, const Options& options,
    const std::shared_ptr<dist::ProcessGroup>& group);

/// Returns an unsharded optimizer of `parameters`, regardless of --zero.
std::unique_ptr<optim::Optimizer> make_plain_optimizer(const Options& options,
                                                       std::vector<Tensor> parameters);

/// Returns the optimizer of all parameters. With --zero it is a ZeroRedundancyOptimizer,
/// and the call blocks until all ranks have called make_optimizer().
std::unique_ptr<optim::Optimizer> make_optimizer(
    const Options& options, const nn::Module& model,
    const std::shared_ptr<dist::ProcessGroup>& group);

/// Returns the scheduler of `optimizer`; null for --scheduler none. `epochs` is the
/// length of the cosine schedule. REQUIRES: `optimizer` outlives the result.
std::unique_ptr<optim::LRScheduler> make_scheduler(const Options& options,
                                                   optim::Optimizer& optimizer,
                                                   int64_t epochs);

}  // namespace mini::training
