// The datasets of the job, and this rank's part of each batch.

#pragma once

#include <memory>

#include "libmini/data/loader.hpp"
#include "libmini/datasets/locate.hpp"
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

}  // namespace mini::training
