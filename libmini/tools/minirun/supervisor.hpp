// Starts the ranks, watches them, and ends them together.
//
//     running --a rank fails--> gathering --0.1 s--> stopping --grace--> killing
//        |                     (who else?)           (SIGTERM)          (SIGKILL)
//        '--SIGINT, SIGTERM, SIGHUP----------------> stopping (that same signal;
//                                                    after SIGINT, SIGTERM is next)
//
// Gathering waits a moment for others that fail, so that the cause can be told from its
// consequences (net/root_cause.hpp). A second signal from the user means: now.
//
// When all ranks have ended, what they wrote last is written out, however long its reader
// takes: `minirun ... | less` waits for the one who reads. Unless the user tells minirun to
// end, before or now: then it waits for the grace, or, told twice, not at all; what the
// reader has not taken by then is lost, and minirun says so.

#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libmini/tools/minirun/caretaker.hpp"
#include "libmini/tools/minirun/child.hpp"
#include "libmini/tools/minirun/environment.hpp"
#include "libmini/tools/minirun/failure.hpp"
#include "libmini/tools/minirun/flight_folder.hpp"
#include "libmini/tools/minirun/logs.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/output.hpp"

namespace mini::tools {

/// How a run of all ranks went.
struct Outcome {
    int code = 0;                   // minirun's exit code
    bool may_be_restarted = false;  // a rank failed, and it was not the user's mistake
};

class Supervisor {
  public:
    /// REQUIRES: one supervisor at a time in the process, and no other thread.
    Supervisor(const Options& options, const Job& job, FlightFolder& flights,
               const Caretaker& caretaker);

    /// Runs the job to its end and says how it went. Blocks. Throws CannotStart when the
    /// program cannot be started. Afterwards no process of the job is left.
    Outcome run();

    /// Writes a line of minirun's own, now or while the job runs.
    void say(const std::string& message) { output_.say(message); }

  private:
    using Clock = std::chrono::steady_clock;
    enum class Phase { kRunning, kGathering, kStopping, kKilling };

    void start_ranks();
    void wait_for_news(Clock::time_point until);
    void take_signals();
    void take_ends();
    void act_on_time();
    void deliver();
    bool awaits_words() const;
    void stop(int signal);
    void enter(Phase phase, Clock::duration length);
    void signal_all(int signal);
    bool sent_by_us(const Exit& exit) const;
    bool anyone_lives() const { return ends_.size() < children_.size(); }
    std::optional<End> cause() const;
    int blamed_by(const End& end) const;
    Findings find_out(const End& cause) const;
    Outcome conclude();

    const Options& options_;
    const Job& job_;
    FlightFolder& flights_;
    const Caretaker& caretaker_;
    Logs logs_;
    Output output_;
    Descriptor signals_;
    std::vector<Child> children_;  // by local rank
    std::vector<End> ends_;        // in the order seen
    Phase phase_ = Phase::kRunning;
    Clock::time_point phase_end_ = Clock::time_point::max();
    Clock::time_point words_end_;  // when gathering no longer waits for words
    size_t gathered_ = 0;          // how many had ended before we stopped the rest
    int stop_signal_ = 0;          // what we sent last, 0 when nothing yet
    int interrupted_by_ = 0;       // the user's signal to a job in which none had failed
    int times_told_to_end_ = 0;    // by the user, also when some had failed
};

}  // namespace mini::tools
