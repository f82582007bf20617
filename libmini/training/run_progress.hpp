// The length of a training run, and the progress of one rank.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/training/options.hpp"
#include "libmini/training/results.hpp"

namespace mini::training {

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
    bool is_done(const RunPosition& position) const;

    /// Returns whether `position` is after the end of this run.
    bool is_beyond_end(const RunPosition& position) const;

    /// Returns the number of steps from `position` to the end of its epoch, or to the end
    /// of the run if that is first.
    int64_t steps_left_in_epoch(const RunPosition& position) const;
};

/// Returns the length that --epochs and --steps define. With --steps alone, the run has
/// as many epochs as the steps need. REQUIRES: `steps_per_epoch` > 0.
RunLength run_length(const Options& options, int64_t steps_per_epoch);

/// The state of one rank's training except model, optimizer and scheduler.
struct RankProgress {
    RunPosition position;
    Results results;
    std::vector<float> epoch_losses;          // of this rank, in the current epoch
    std::vector<uint8_t> epoch_generators;    // at the start of the current epoch
    std::vector<uint8_t> resumed_generators;  // if resumed in the middle of an epoch
};

}  // namespace mini::training
