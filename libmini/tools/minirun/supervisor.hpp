// Starts the ranks, watches them, and ends them together.
//
//     running --a rank fails--> gathering --0.1 s--> stopping --grace--> killing
//        |                   (further failures?)     (SIGTERM)          (SIGKILL)
//        '--SIGINT, SIGTERM, SIGHUP----------------> stopping (the same signal;
//                                                    after SIGINT, SIGTERM follows)
//
// signals.hpp lists the other signals.
//
// Gathering waits a moment for further failures, so that minirun can distinguish the
// cause from its consequences (net/root_cause.hpp). After a second signal from the user,
// minirun kills all ranks immediately.
//
// minirun's own lines, each by Output::say:
//
//     stopped by SIGTERM                          the user's signal ended the job
//     the lines of failure_report (failure.hpp)   a rank failed; not for a usage error
//                                                 (exit code 2) if a rank wrote to stderr
//     gave up after 2 restarts                    the last restart failed, too
//     a part of stdout is lost: ...               the disk is full; minirun exits with 1
//
// While all failed ranks have ended by an exit code and no rank has written to stderr,
// gathering waits up to 2 s for an error message.

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/tools/minirun/child.hpp"
#include "libmini/tools/minirun/cleaner.hpp"
#include "libmini/tools/minirun/failure.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/output.hpp"

namespace mini::tools {

/// The result of a run of all ranks.
struct Outcome {
    int code = 0;  // minirun's exit code
    bool may_be_restarted =
        false;  // a rank failed, but not by a usage error or a user's signal
};

class Supervisor {
  public:
    /// REQUIRES: no other supervisor exists in the process, and no other thread is
    /// running.
    Supervisor(const Options& options, const dist::Job& job, const Cleaner& cleaner);

    /// Runs the job. Blocks until all its processes have ended and its output is written.
    /// The exit code is that of the failure that caused the others, 1 if they waited for a rank,
    /// 128 + the signal's number if the user's signal ended the job, or 0.
    /// Throws CannotStart if the program cannot be started; the destructor then ends the
    /// ranks that were started.
    Outcome run();

  private:
    using Clock = std::chrono::steady_clock;
    enum class Phase { kRunning, kGathering, kStopping, kKilling };

    void start_ranks();
    std::string log_path(int local_rank, const char* stream) const;
    void wait_for_events();
    void handle_signals();
    void pass_on(int signal);
    void handle_ending_signal(int signal);
    void reap_ended();
    void record_end(int local_rank, pid_t pid, const Exit& exit);
    void handle_timeout();
    void end_phase();
    bool awaits_message() const;
    void gather();
    void stop(int signal);
    void kill_all();
    void enter(Phase phase, Clock::duration length);
    void signal_all(int signal);
    bool sent_by_us(const Exit& exit) const;
    bool any_running() const { return ends_.size() < children_.size(); }
    std::optional<End> cause() const;
    int blamed_by(const End& end) const;
    Findings find_details(const End& cause) const;
    void add_records(const End& cause, std::vector<std::string>& notes) const;
    Outcome conclude();

    const Options& options_;
    const dist::Job& job_;
    const Cleaner& cleaner_;
    Output output_;
    Descriptor signals_;
    std::deque<Child> children_;  // by local rank
    std::vector<End> ends_;       // in the order in which minirun saw them
    Phase phase_ = Phase::kRunning;
    Clock::time_point phase_end_ = Clock::time_point::max();
    Clock::time_point message_end_;  // when gathering stops waiting for an error message
    size_t gathered_ = 0;  // number of ranks that ended before minirun stopped the rest
    int stop_signal_ = 0;  // the last signal sent to stop the ranks; 0: none yet
    int interrupted_by_ = 0;   // the user's signal, if no rank had failed before it
    bool user_stops_ = false;  // the user has sent a signal that ends the job
};

}  // namespace mini::tools
