#include "libmini/training/run_progress.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace mini::training {

namespace {

int64_t epoch_count(const Options& options, int64_t steps_per_epoch) {
    if (options.epochs > 0) return options.epochs;
    if (options.steps == 0) return kDefaultEpochs;
    return (options.steps + steps_per_epoch - 1) / steps_per_epoch;
}

}  // namespace

bool RunLength::is_done(const RunPosition& position) const {
    return position.epoch >= epochs || position.step >= last_step;
}

bool RunLength::is_beyond_end(const RunPosition& position) const {
    return position.step > last_step || position.epoch > epochs ||
           (position.epoch == epochs && position.step_in_epoch > 0);
}

int64_t RunLength::steps_left_in_epoch(const RunPosition& position) const {
    return std::min(last_step - position.step, steps_per_epoch - position.step_in_epoch);
}

RunLength run_length(const Options& options, int64_t steps_per_epoch) {
    return {.steps_per_epoch = steps_per_epoch,
            .epochs = epoch_count(options, steps_per_epoch),
            .last_step =
                options.steps > 0 ? options.steps : std::numeric_limits<int64_t>::max()};
}

}  // namespace mini::training
