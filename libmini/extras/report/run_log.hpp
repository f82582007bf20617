// RunLog: records a training run in a folder.
//
//     metrics.jsonl            options, steps and epochs (metrics.hpp)
//     events.out.tfevents.*    the same numbers for TensorBoard; a new process voids
//                              those of the steps that it does again
//     trace.json               the last 20 steps of the epoch on all ranks (trace.hpp)
//     report.html              all of these as a page (page.hpp)
//
// Rank 0 writes. It appends a line for each of its own steps at once, in one write, so a
// killed run keeps all steps that rank 0 had done. The steps of the other ranks follow
// at the end of the epoch, with which rank 0 writes the other files again.
//
// Cost: a step reads its events (about 50) and makes seven short writes, some 20
// microseconds; an epoch gathers about 200 bytes per step from each rank, and the events
// of 20 steps, on all ranks.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/events.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/extras/report/metrics.hpp"
#include "libmini/extras/report/trace.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/training/run_observer.hpp"

namespace mini::report {

/// During its lifetime, hooks on all submodules of a network record kModuleBegin and
/// kModuleEnd around each forward pass. The network itself has no hooks.
class ForwardEvents {
  public:
    /// The index of an event is the submodule's in `network`.named_modules(). REQUIRES:
    /// `network` and `log` outlive this object.
    ForwardEvents(nn::Module& network, EventLog& log);
    ~ForwardEvents();
    ForwardEvents(const ForwardEvents&) = delete;
    ForwardEvents& operator=(const ForwardEvents&) = delete;

  private:
    std::vector<std::pair<nn::Module*, int>> hooks_;  // each with its id
};

class RunLog : public training::RunObserver {
  public:
    /// On rank 0, creates the folder if necessary, checks that the files can be written,
    /// and appends the line "run". From now on the forward passes of `network` are recorded
    /// by layer. Does not communicate. Throws BadFile, which must reach all ranks
    /// (training::on_all_ranks).
    /// REQUIRES: `network` outlives this object.
    RunLog(std::string folder, const training::RunFacts& run, nn::Module& network,
           std::shared_ptr<dist::ProcessGroup> group);
    ~RunLog() override;
    RunLog(const RunLog&) = delete;
    RunLog& operator=(const RunLog&) = delete;

    /// Throws BadFile if rank 0 cannot write.
    void add_step(const training::StepFacts& step) override;

    /// Gathers what all ranks have recorded; blocks until all ranks have called it. The
    /// numbers of rank 0 are written. Throws BadFile if rank 0 cannot write.
    void add_epoch(const training::EpochFacts& epoch) override;

  private:
    class Files;

    std::string folder_;
    std::shared_ptr<dist::ProcessGroup> group_;
    EventNames names_;
    ForwardEvents forward_events_;

    std::unique_ptr<Files> files_;          // on rank 0
    uint64_t position_ = 0;                 // in the event log
    std::vector<StepRow> rows_;             // of this rank, in this epoch; not on rank 0
    std::deque<std::vector<Event>> steps_;  // events of the last steps
};

}  // namespace mini::report
