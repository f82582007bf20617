// Starts the ranks, watches them, and ends them together.
//
//     running --a rank fails--> gathering --0.1 s--> stopping --grace--> killing
//        |                     (who else?)           (SIGTERM)          (SIGKILL)
//        '--SIGINT, SIGTERM, SIGHUP----------------> stopping (that same signal)
//
// Gathering waits a moment for others that fail, so that the cause can be told from its
// consequences (failure.hpp). A second signal from the user means: now.

#pragma once

#include <signal.h>

#include <chrono>
#include <vector>

#include "libmini/tools/minirun/child.hpp"
#include "libmini/tools/minirun/failure.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/output.hpp"

namespace mini::tools {

class Supervisor {
  public:
    /// REQUIRES: one supervisor in the process, and no other thread.
    explicit Supervisor(const Options& options);

    /// Runs the job to its end and returns minirun's exit code. Blocks. Throws
    /// CannotStart when the program cannot be started. Afterwards no process of the job
    /// is left.
    int run(const Job& job);

  private:
    using Clock = std::chrono::steady_clock;
    enum class Phase { kRunning, kGathering, kStopping, kKilling };

    void start_ranks(const Job& job);
    void wait_for_news();
    void take_signals();
    void take_ends();
    void act_on_time();
    void stop(int signal);
    void enter(Phase phase, Clock::duration length);
    void signal_all(int signal);
    bool sent_by_us(const Exit& exit) const;
    bool anyone_lives() const { return ends_.size() < children_.size(); }
    int conclude();

    const Options& options_;
    Output output_;
    Descriptor signals_;
    std::vector<Child> children_;  // by rank
    std::vector<End> ends_;        // in the order seen
    Phase phase_ = Phase::kRunning;
    Clock::time_point phase_end_ = Clock::time_point::max();
    size_t gathered_ = 0;     // how many had ended before we stopped the rest
    int stop_signal_ = 0;     // what we sent first, 0 when nothing yet
    int interrupted_by_ = 0;  // the user's signal, 0 when none
};

}  // namespace mini::tools
