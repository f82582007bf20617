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

bool RunLength::is_done(const Place& place) const {
    return place.epoch >= epochs || place.step >= last_step;
}

bool RunLength::is_beyond_end(const Place& place) const {
    return place.step > last_step || place.epoch > epochs ||
           (place.epoch == epochs && place.position > 0);
}

int64_t RunLength::steps_left_in_epoch(const Place& place) const {
    return std::min(last_step - place.step, steps_per_epoch - place.position);
}

RunLength run_length(const Options& options, int64_t steps_per_epoch) {
    return {.steps_per_epoch = steps_per_epoch,
            .epochs = epoch_count(options, steps_per_epoch),
            .last_step =
                options.steps > 0 ? options.steps : std::numeric_limits<int64_t>::max()};
}

}  // namespace mini::training
