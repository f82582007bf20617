// make_data_sampler and make_batch_data_sampler: from three words of a configuration to
// the batches of a training (maskrcnn-benchmark's `data/build.py`).
//
//     make_data_sampler        distributed?  DistributedSampler
//                              shuffle?      RandomSampler        else SequentialSampler
//     make_batch_data_sampler  aspects?      GroupedBatchSampler  else BatchSampler
//                              num_iters?    IterationBasedBatchSampler around it

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libmini/data/batch_sampler.hpp"
#include "libmini/data/dataset.hpp"

namespace mini::data {

/// The sampler for a dataset; distributed, that of the calling thread's rank, shuffled or
/// not. Throws UsageError when distributed before init_process_group, and when an empty
/// dataset is to be shuffled on one rank.
std::shared_ptr<Sampler> make_data_sampler(const Dataset& dataset, bool shuffle,
                                           bool distributed);

/// Height / width of every sample's data (..., H, W). Reads each sample once. Throws
/// ShapeError naming a sample that is no image.
std::vector<double> compute_aspect_ratios(const Dataset& dataset);

struct BatchDataSamplerOptions {
    /// The borders between groups of aspect ratios: {1} parts wide images from the rest.
    /// A ratio that equals a border belongs above it. None: no grouping.
    std::vector<double> aspect_grouping = {};
    int64_t images_per_gpu = 1;                       // the batch size of one rank
    std::optional<int64_t> num_iters = std::nullopt;  // none: batches of one epoch
    int64_t start_iter = 0;
    /// Height / width of every sample, for datasets that know it; empty: measured by
    /// compute_aspect_ratios when grouping needs it.
    std::vector<double> aspect_ratios = {};
};

/// The batches of a training over `dataset` in the order of `sampler`. Throws UsageError
/// when a ratio or border is not finite, or there are not as many ratios as samples.
std::shared_ptr<BatchSource> make_batch_data_sampler(
    const Dataset& dataset, std::shared_ptr<Sampler> sampler,
    const BatchDataSamplerOptions& options);

}  // namespace mini::data
