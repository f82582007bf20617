// The length of a training run, its results, and the progress of one rank.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "libmini/training/options.hpp"
#include "libmini/training/statistics.hpp"

namespace mini::training {

/// The results of a run. Vectors have one entry per epoch unless noted otherwise. In a
/// resumed run, these vectors begin with the first epoch of the original run.
struct Results {
    std::vector<double> train_loss;
    std::vector<double> step_loss;  // per step, first 1,000 steps; mean over ranks
    std::vector<double> test_accuracy;
    std::vector<double> seconds_per_epoch;  // resumed epoch: since the resume
    std::vector<double> lr;

    // Measured since the start of this process:
    std::optional<int64_t> resumed_at_step;
    double samples_per_second = 0.0;
    std::vector<std::string> parameters_sha256;  // one per rank
    std::vector<std::string> devices;            // one per rank: "cuda:1"
    std::vector<int64_t> bucket_bytes;           // of DDP's buckets
    TrainingStatistics statistics;
};

/// The current position of a run. Checkpoints store step_in_epoch as "position".
struct RunPosition {
    int64_t step = 0;           // steps done since the start of the run
    int64_t epoch = 0;          // the current epoch, counted from 0
    int64_t step_in_epoch = 0;  // steps done in the current epoch
};

/// The end of a run: after the last epoch or after the last step, whichever is first.
struct RunLength {
    int64_t steps_per_epoch = 0;
    int64_t epochs = 0;
    int64_t last_step = 0;  // the largest int64_t without --steps

    /// Returns whether no step remains at `position`.
    bool is_done(const RunPosition& position) const {
        return position.epoch >= epochs || position.step >= last_step;
    }

    /// Returns whether `position` is after the end of this run.
    bool is_beyond_end(const RunPosition& position) const {
        return position.step > last_step || position.epoch > epochs ||
               (position.epoch == epochs && position.step_in_epoch > 0);
    }

    /// Returns the number of steps from `position` to the end of its epoch, or to the end
    /// of the run if that is first.
    int64_t steps_left_in_epoch(const RunPosition& position) const {
        return std::min(last_step - position.step,
                        steps_per_epoch - position.step_in_epoch);
    }
};

/// Returns the length that --epochs and --steps define. With --steps alone, the run has
/// as many epochs as the steps need. REQUIRES: `steps_per_epoch` > 0.
inline RunLength run_length(const Options& options, int64_t steps_per_epoch) {
    RunLength length{.steps_per_epoch = steps_per_epoch,
                     .epochs = options.epochs,
                     .last_step = std::numeric_limits<int64_t>::max()};
    if (options.steps > 0) length.last_step = options.steps;
    if (options.epochs == 0)
        length.epochs = options.steps == 0
                            ? kDefaultEpochs
                            : (options.steps + steps_per_epoch - 1) / steps_per_epoch;
    return length;
}

/// The state of one rank's training except model, optimizer and scheduler.
struct RankProgress {
    RunPosition position;
    Results results;
    std::vector<float> epoch_losses;          // of this rank, in the current epoch
    std::vector<uint8_t> epoch_generators;    // at the start of the current epoch
    std::vector<uint8_t> resumed_generators;  // if resumed in the middle of an epoch
};

}  // namespace mini::training
