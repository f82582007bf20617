// RunObserver: what a program tells about its training run, besides what it prints. The
// extra report records a run with it (--logdir); without an observer, a run trains the same.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::training {

/// The facts with which a run begins.
struct RunFacts {
    std::string program;                                       // "train_mnist"
    std::vector<std::pair<std::string, std::string>> options;  // name and value
    std::optional<int64_t> resumed_at_step = std::nullopt;
    int world_size = 1;
    std::string backend = "";
};

/// One step of one rank. Epochs and steps count from 0.
struct StepFacts {
    int64_t epoch = 0;
    int64_t step = 0;   // since the start of the run
    double loss = 0.0;  // mean over the rank's samples
};

/// One epoch of all ranks.
struct EpochFacts {
    int64_t epoch = 0;
    int64_t steps = 0;        // done when the epoch ends, since the start of the run
    double train_loss = 0.0;  // mean over all ranks and steps of the epoch
    double test_accuracy = 0.0;
    double lr = 0.0;
    double seconds = 0.0;
};

/// Observes the run of one rank. The program also records spans in the group's event log:
/// "step" around each step and, within it, "data", "forward", "backward" and "optimizer".
class RunObserver {
  public:
    virtual ~RunObserver() = default;

    /// Called after each step, outside of its span.
    virtual void add_step(const StepFacts& step) = 0;

    /// Called on all ranks after each epoch; may communicate.
    virtual void add_epoch(const EpochFacts& epoch) = 0;
};

/// Makes the observer of this rank's run of `network`, which records into `folder`. Does not
/// communicate. Throws BadFile if the folder cannot be written.
using MakeRunObserver = std::unique_ptr<RunObserver> (*)(
    const std::string& folder, const RunFacts& run, nn::Module& network,
    const std::shared_ptr<dist::ProcessGroup>& group);

/// Makes the observer for --logdir; null if the program has none.
inline MakeRunObserver make_run_observer = nullptr;

/// Returns the observer of a run with --logdir `folder`; null if `folder` is empty. Sets the
/// world size and the backend of `run`. Blocks until all ranks have called it. Throws the
/// same error on all ranks: UsageError if no observer is registered, or what making one
/// throws on a rank. REQUIRES: `network` outlives the result.
std::unique_ptr<RunObserver> observe_run(
    const std::string& folder, RunFacts run, nn::Module& network,
    const std::shared_ptr<dist::ProcessGroup>& group);

}  // namespace mini::training
