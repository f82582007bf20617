#include "libmini/program/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/core/terminal.hpp"

namespace mini {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);

// Formats 62 s as 01:02, and one hour or more as 1:01:02.
std::string clock_time(double seconds) {
    const auto whole = static_cast<int64_t>(seconds);
    const int64_t hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
    return fmt::format("{:02}:{:02}", minutes, whole % 60);
}

// Returns "291/469 [00:02<00:01, 131.2 batch/s]"; below one batch per second, the text
// has seconds per batch instead.
std::string counts(int64_t initial, int64_t done, int64_t total, double seconds) {
    const std::string elapsed = clock_time(seconds);
    if (done <= initial || seconds <= 0)
        return fmt::format("{}/{} [{}<?, ? batch/s]", done, total, elapsed);

    const double rate = static_cast<double>(done - initial) / seconds;
    const std::string left =
        clock_time(static_cast<double>(std::max<int64_t>(total - done, 0)) / rate);
    const std::string speed = rate >= 1 ? fmt::format("{:.1f} batch/s", rate)
                                        : fmt::format("{:.1f} s/batch", 1 / rate);
    return fmt::format("{}/{} [{}<{}, {}]", done, total, elapsed, left, speed);
}

}  // namespace

bool stderr_is_terminal() {
    const std::string progress = environment("MINI_PROGRESS");
    if (progress == "bar") return true;
    if (progress == "plain") return false;
    return is_terminal(STDERR_FILENO);
}

Progress::Progress(std::ostream& out, std::string label, int64_t total,
                   ProgressOptions options)
    : out_(out),
      label_(std::move(label)),
      total_(total),
      options_(std::move(options)),
      start_(options_.clock()),
      last_draw_(start_) {
    MINI_CHECK(total >= 0, "progress \"", label_, "\": the total is ", total);
}

Progress::~Progress() {
    if (!drawn_) return;
    try {
        draw_bar(options_.clock());
        out_ << '\n' << std::flush;
    } catch (...) {  // a destructor must not throw; a progress bar may be lost
    }
}

void Progress::advance(int64_t steps, const Note& note) {
    done_ += steps;
    if (!options_.enabled) return;
    const Clock::time_point now = options_.clock();
    const bool is_due =
        options_.terminal ? !drawn_ || done_ >= total_ || now - last_draw_ >= kRedrawEvery
                          : share(done_, 10) > tenths_written_;
    if (!is_due) return;
    note_ = note ? note() : "";
    if (options_.terminal) return draw_bar(now);
    out_ << line(done_, seconds_until(now)) << '\n' << std::flush;
    tenths_written_ = share(done_, 10);
}

std::string Progress::line(int64_t done, double seconds) const {
    const std::string head = fmt::format("{} {:3}%", label_, share(done, 100));
    std::string tail = counts(options_.initial, done, total_, seconds);
    if (!note_.empty()) tail += ' ' + note_;

    // The bar has the remaining columns, minus two edges and a space.
    const int width = options_.width - static_cast<int>(head.size() + tail.size()) - 3;
    if (!options_.terminal || width < 1)
        return (head + ' ' + tail).substr(0, static_cast<size_t>(options_.width));
    const std::string bar(static_cast<size_t>(share(done, width)), '#');
    return fmt::format("{}|{:<{}}| {}", head, bar, width, tail);
}

void Progress::draw_bar(Clock::time_point now) {
    out_ << fmt::format("\r{:<{}}", line(done_, seconds_until(now)), options_.width)
         << std::flush;
    drawn_ = true;
    last_draw_ = now;
}

double Progress::seconds_until(Clock::time_point now) const {
    return std::chrono::duration<double>(now - start_).count();
}

// Returns how many of `parts` equal parts of the total are done; `parts` if the total is
// 0.
int64_t Progress::share(int64_t done, int64_t parts) const {
    if (done >= total_) return parts;
    return std::max<int64_t>(done, 0) * parts / total_;
}

}  // namespace mini
