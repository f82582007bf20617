// RunLog: records a training run in a folder.
//
//     metrics.jsonl            options, steps and epochs (metrics.hpp)
//     events.out.tfevents.*    the same numbers for TensorBoard; a new process voids
//                              those of the steps that it does again
//     trace.json               the last 20 steps of the epoch on all ranks (trace.hpp)
//     evaluation.json          confusion matrix, mistakes, samples (evaluation.hpp)
//     samples.png              who saw which sample (samples.hpp)
//     report.html              all of these as a page (page.hpp)
//
// Rank 0 writes. It appends a line for each of its own steps at once, in one write, so a
// killed run keeps all steps that rank 0 had done. The steps of the other ranks follow
// at the end of the epoch, with which rank 0 writes the other files again.
//
// Cost: a step reads its events (about 50) and makes seven short writes, some 20
// microseconds; an epoch gathers about 100 bytes per step from each rank, and the events
// of 20 steps, and a byte per training sample.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/report/evaluation.hpp"
#include "libmini/report/event_names.hpp"
#include "libmini/report/forward_events.hpp"
#include "libmini/report/metrics.hpp"
#include "libmini/report/profiler_ranges.hpp"
#include "libmini/report/samples.hpp"

namespace mini::report {

class RunLog {
  public:
    /// On rank 0, creates the folder if necessary, checks that the files can be written,
    /// and appends the line "run"; takes the
    /// world size and the backend from `group`. From now on the forward passes of
    /// `network` are recorded by layer; in a build with nvcc, a profiler is told of all
    /// events. Does not communicate. Throws BadFile, which must reach all ranks
    /// (training::on_all_ranks). REQUIRES: `network` outlives this object.
    RunLog(std::string folder, RunFacts run, nn::Module& network,
           std::shared_ptr<dist::ProcessGroup> group);
    ~RunLog();
    RunLog(const RunLog&) = delete;
    RunLog& operator=(const RunLog&) = delete;

    /// Returns where the program records its spans: "step" around each step and, within
    /// it, "data", "forward", "backward" and "optimizer". Never null.
    EventLog* events() const { return &group_->events(); }

    /// Call it after each step, outside of the span "step"; sets the rank and the times.
    /// `samples` has the indices of this rank's batch, below RunFacts::train_size. Throws
    /// BadFile if rank 0 cannot write.
    void add_step(StepRow row, const std::vector<int64_t>& samples);

    /// Call it on all ranks after each epoch; blocks until all ranks have. The numbers of
    /// rank 0 are written. `evaluation` is of this rank's part of the test data. Throws
    /// BadFile if rank 0 cannot write.
    void add_epoch(const EpochRow& row, const Evaluation& evaluation);

  private:
    class Files;

    std::string folder_;
    std::shared_ptr<dist::ProcessGroup> group_;
    EventNames names_;
    ForwardEvents forward_events_;
    std::unique_ptr<ProfilerRanges> profiler_ranges_;  // null without a profiler

    std::unique_ptr<Files> files_;          // on rank 0
    uint64_t position_ = 0;                 // in the event log
    std::vector<StepRow> rows_;             // of this rank, in this epoch; not on rank 0
    std::deque<std::vector<Event>> steps_;  // events of the last steps
    std::vector<uint8_t> counts_;           // of this rank's samples, in this epoch
};

/// Returns `log`'s events, or null for a null `log`: the first argument of an EventSpan.
inline EventLog* events_of(const std::unique_ptr<RunLog>& log) {
    return log == nullptr ? nullptr : log->events();
}

}  // namespace mini::report
