// Going on in the middle of an epoch: a checkpoint says how many steps were made, and the
// next job, perhaps on another number of ranks, has to find the batch that comes next.
//
//     places of the permutation         0 1 2 3 4 5 | 6 7 8 9 10 11
//     2 ranks, batches of 3, stopped    [ step 0  ] | not trained on
//     3 ranks, batches of 2, goes on    [ batch 0 ] | [ batch 1   ]
//     3 ranks, batches of 1, goes on    [ 0 ][ 1  ] | [ 2 ] [ 3   ]

#pragma once

#include <cstdint>

#include "libmini/data/loader.hpp"

namespace mini::labs {

/// How a job divides its data: `samples` of the dataset among `ranks`, by a
/// DistributedSampler without drop_last, in batches of `batch_size` samples per rank.
struct Division {
    int64_t samples;
    int64_t ranks;
    int64_t batch_size;
};

/// The next batch of a training: of each rank, number `batch` of the epoch.
struct EpochPosition {
    int64_t epoch = 0;
    int64_t batch = 0;
    bool operator==(const EpochPosition&) const = default;
};

/// Returns how many batches each rank reads in an epoch, a short last one included. A rank
/// has samples / ranks samples, rounded up. REQUIRES: ranks and batch_size are positive.
int64_t batches_per_epoch(const Division& division);

/// Returns the position after `steps` steps of a training that began at epoch 0, batch 0.
/// After the last batch of an epoch, that is batch 0 of the next. REQUIRES: steps >= 0,
/// and an epoch has at least one batch.
EpochPosition position_after(int64_t steps, const Division& division);

/// Returns where a job that is divided as `now` goes on with the training of a job that was
/// divided as `was` and stopped before the batch `stopped`: in the same epoch, at the batch
/// before which as many places of the epoch's permutation have been used. Throws
/// UsageError (by check_batch_begins) when no batch of all ranks begins there. REQUIRES:
/// both have the same samples, and stopped.batch < batches_per_epoch(was).
EpochPosition same_place(EpochPosition stopped, const Division& was, const Division& now);

/// Starts reading at `position`: returns the rest of its epoch, in that epoch's order. The
/// batches before it are not fetched. `loader` has a sampler whose order depends on
/// set_epoch. Throws UsageError when position.batch is negative.
data::LoaderEpoch go_on(data::DataLoader& loader, EpochPosition position);

}  // namespace mini::labs
