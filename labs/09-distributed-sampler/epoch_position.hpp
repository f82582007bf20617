// Resumes a training in the middle of an epoch: a checkpoint holds the number of steps,
// and the next job, perhaps with another number of ranks, must find the next batch.
//
// Place i is entry i of the epoch's permutation, counted from 0.
//
//     places of the permutation         0 1 2 3 4 5 | 6 7 8 9 10 11
//     2 ranks, batches of 3, stopped    [ step 0  ] | not trained on
//     3 ranks, batches of 2, goes on    [ batch 0 ] | [ batch 1   ]
//     3 ranks, batches of 1, goes on    [ 0 ][ 1  ] | [ 2 ] [ 3   ]

#pragma once

#include <cstdint>

#include "libmini/data/loader.hpp"

namespace mini::labs {

/// How a job divides a dataset of `samples` samples: a DistributedSampler without
/// drop_last gives each of `ranks` ranks its part, in batches of `batch_size` per rank.
struct Division {
    int64_t samples;
    int64_t ranks;
    int64_t batch_size;
};

/// The position of a training: the next batch of each rank is batch `batch` of `epoch`,
/// both counted from 0.
struct EpochPosition {
    int64_t epoch = 0;
    int64_t batch = 0;
    bool operator==(const EpochPosition&) const = default;
};

/// Returns the number of batches that each rank reads in an epoch; a short last batch
/// counts. REQUIRES: ranks and batch_size are positive.
int64_t batches_per_epoch(const Division& division);

/// Returns the position after `steps` steps of a training that began at epoch 0, batch 0.
/// The last batch of an epoch is followed by batch 0 of the next epoch. REQUIRES: steps
/// >= 0, and an epoch has at least one batch.
EpochPosition position_after(int64_t steps, const Division& division);

/// Returns the position at which a job with division `now` resumes the training of a job
/// with division `was`, which stopped at `stopped`. Both positions have the same epoch,
/// and the batches before them use the same number of places. Throws UsageError, which
/// names this number and the places of one step of `now`, if no batch of `now` begins
/// after that number of places. REQUIRES: `was` and `now` have the same number of
/// samples, and stopped.batch < batches_per_epoch(was).
EpochPosition same_place(EpochPosition stopped, const Division& was, const Division& now);

/// Returns the rest of position.epoch, from position.batch on, in that epoch's order. The
/// batches before position.batch are not fetched. Throws UsageError if position.batch is
/// negative. REQUIRES: the order of `loader`'s sampler depends on set_epoch.
data::LoaderEpoch go_on(data::DataLoader& loader, EpochPosition position);

}  // namespace mini::labs
