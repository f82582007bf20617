// A progress bar like tqdm's:
//
//     epoch 1/3  62%|##########       | 291/469 [00:02<00:01, 131.2 batch/s] loss 0.412
//
// On a terminal, Progress redraws one line in place, at most every 100 ms. To a file or a
// pipe, Progress writes a line without the bar at every 10 % of the steps, so that logs
// stay readable.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace mini {

struct ProgressOptions {
    bool enabled = true;    // false on ranks other than 0
    bool terminal = false;  // `out` can redraw a line; see stderr_is_terminal
    int width = 80;         // bytes of the whole line; longer lines are truncated
    int64_t initial = 0;    // steps that were done before, not counted in the rate
    std::function<std::chrono::steady_clock::time_point()> clock =
        std::chrono::steady_clock::now;
};

/// Returns whether stderr can redraw a line (is_terminal). MINI_PROGRESS=bar forces true
/// and MINI_PROGRESS=plain forces false; minirun sets the variable for its ranks, because
/// their stderr is a pipe.
bool stderr_is_terminal();

/// One progress bar, shown until its destructor runs.
class Progress {
  public:
    /// Starts the clock. Throws Error if total is negative. REQUIRES: `out` outlives the
    /// bar.
    Progress(std::ostream& out, std::string label, int64_t total,
             ProgressOptions options = {});

    /// If the line was drawn, draws the line again and ends it with a newline. Does not
    /// throw.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Returns what is shown at the end of the line: "loss 0.412".
    using Note = std::function<std::string()>;

    /// Adds `steps` to the finished steps, and redraws the line if it is due. Calls
    /// `note` only then.
    void advance(int64_t steps, const Note& note = nullptr);

    /// Returns the line for `done` steps after `seconds`, without control characters.
    std::string line(int64_t done, double seconds) const;

  private:
    using Clock = std::chrono::steady_clock;
    void draw_bar(Clock::time_point now);
    double seconds_until(Clock::time_point now) const;
    int64_t share(int64_t done, int64_t parts) const;

    std::ostream& out_;
    std::string label_;
    std::string note_;
    int64_t total_;
    ProgressOptions options_;
    int64_t done_ = options_.initial;
    int64_t tenths_written_ = share(done_, 10);  // without a terminal: already reported
    bool drawn_ = false;
    Clock::time_point start_;
    Clock::time_point last_draw_;
};

}  // namespace mini
