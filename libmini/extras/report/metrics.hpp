// metrics.jsonl: what a run has measured, one JSON object a line (schema 1).
//
//     {"kind": "run", "schema": 1, "program": "train_mnist", "time": 1.7e9,
//      "world_size": 2, "backend": "ring", "resumed_at_step": null, "options": {...}}
//     {"kind": "step", "rank": 0, "epoch": 0, "step": 0, "loss": 2.31, "data_s": ...,
//      "forward_s", "backward_s", "waiting_s", "optimizer_s", "step_s"}
//     {"kind": "epoch", "epoch": 0, "steps": 469, "train_loss", "test_accuracy", "lr",
//      "seconds"}
//
// Epochs and steps count from 0; `loss` is the mean over the rank's samples, `train_loss`
// over all ranks and steps of the epoch; NaN and infinity are null. A line "run" begins
// each process; if it has resumed from a checkpoint, its steps replace those that an
// earlier process had done after that checkpoint. docs/pages/run_report.md says more.
//
// The parts of a training step, from the spans in the event log:
//
//     step  | data | forward | backward ............ | waiting | optimizer |
//                              first gradient .. last   until all averages are ready
//
// The span "backward" covers backward and waiting: DistributedDataParallel waits for its
// buckets inside of backward(). The event kBackwardEnd separates the two. On a GPU these
// are the times of the host, which queues the work of the device.

#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/training/run_observer.hpp"

namespace mini::report {

/// Seconds of the parts of one step. `step` is the whole, including what is in no part.
struct StepTimes {
    double data = 0.0;
    double forward = 0.0;
    double backward = 0.0;
    double waiting = 0.0;
    double optimizer = 0.0;
    double step = 0.0;
};

/// The times by name: "data" is "data_s" in metrics.jsonl and "time/data" in event files.
using StepPart = std::pair<const char*, double StepTimes::*>;
inline constexpr std::array<StepPart, 6> kStepParts{{{"data", &StepTimes::data},
                                                     {"forward", &StepTimes::forward},
                                                     {"backward", &StepTimes::backward},
                                                     {"waiting", &StepTimes::waiting},
                                                     {"optimizer", &StepTimes::optimizer},
                                                     {"step", &StepTimes::step}}};

/// Returns the times of the step whose events are `events`, oldest first. A part without
/// a span takes 0 seconds; parts that occur several times are added.
StepTimes step_times(const std::vector<Event>& events);

/// One step of one rank.
struct StepRow {
    int rank = 0;
    int64_t epoch = 0;
    int64_t step = 0;  // since the start of the run
    double loss = 0.0;
    StepTimes times = {};
};

/// A run as read from its file.
struct Metrics {
    training::RunFacts run;
    std::vector<StepRow> steps;  // sorted by step, then rank; each once
    std::vector<training::EpochFacts> epochs;
};

nlohmann::ordered_json json_of(const training::RunFacts& run);    ///< the line "run"
nlohmann::ordered_json json_of(const StepRow& row);               ///< a line "step"
nlohmann::ordered_json json_of(const training::EpochFacts& row);  ///< a line "epoch"

/// Reads FOLDER/metrics.jsonl: the last run in it, with its resumptions. Skips lines that
/// were cut off. Throws BadFile if there is no such file, or if it has no run.
Metrics read_metrics(const std::string& folder);

}  // namespace mini::report
