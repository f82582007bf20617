// A progress bar in the manner of tqdm:
//
//     epoch 1/3  62%|██████████▌      | 291/469 [00:02<00:01, 131.2 batch/s] loss 0.412
//
// On a terminal it redraws one line in place, at most every 100 ms. Into a file or a pipe
// it writes a plain line, without the bar, at every tenth of the way, so that logs stay
// readable.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace mini {

struct ProgressOptions {
    std::string unit = "batch";
    bool enabled = true;    // ranks other than 0 pass false
    bool terminal = false;  // whether `out` can redraw a line; see stderr_is_terminal
    int width = 80;         // columns of the whole line; a longer one is cut
    std::function<std::chrono::steady_clock::time_point()> clock =
        std::chrono::steady_clock::now;
};

/// Whether stderr is a terminal that understands carriage returns (isatty, and TERM not
/// "dumb"), or MINI_PROGRESS=bar says so; MINI_PROGRESS=plain says no. minirun sets it
/// for its ranks, whose stderr is a pipe.
bool stderr_is_terminal();

/// One progress bar, from its construction to its end.
class Progress {
  public:
    /// Starts the clock. Throws Error for a negative total. REQUIRES: `out` outlives the
    /// bar.
    Progress(std::ostream& out, std::string label, int64_t total,
             ProgressOptions options = {});

    /// Leaves the line as it stands, with a line end. Does not throw.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Counts `steps` more, and shows `note` ("loss 0.412") at the end of the line.
    void advance(int64_t steps, const std::string& note = "");

    /// The line for `done` steps after `seconds`: what is drawn, without control
    /// characters.
    std::string line(int64_t done, double seconds) const;

  private:
    using Clock = std::chrono::steady_clock;
    void draw_bar(Clock::time_point now);
    void write_tenth(Clock::time_point now);
    double seconds_until(Clock::time_point now) const;
    int64_t share(int64_t done, int64_t parts) const;

    std::ostream& out_;
    std::string label_;
    std::string note_;
    int64_t total_;
    int64_t done_ = 0;
    int64_t tenths_written_ = 0;  // plain mode: tenths already reported
    bool drawn_ = false;
    ProgressOptions options_;
    Clock::time_point start_;
    Clock::time_point last_draw_;
};

}  // namespace mini
