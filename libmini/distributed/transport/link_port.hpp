// A port of a link: bytes pass it at the link's rate, one frame or message after another.
//
//     out port    | a0 | a1 |                 of the sender
//                   \    \      the link's delay
//     in port          | a0 | b0 | a1 |       of the receiver; b0 is from another rank
//
// A frame's first byte reaches the in port one delay after it has left the out port. So a
// single frame takes bytes / rate + delay: the receiver receives the first bytes while
// the sender still sends the other bytes (cut-through). Frames that reach a port at the
// same time queue.
//
// Used by EmulatedLink, between real processes, and by the simulated network
// (simulation/network.hpp).

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace mini::dist {

/// Returns how long `bytes` bytes occupy a port, rounded to a tick of `Duration`.
template <typename Duration>
Duration time_to_send(size_t bytes, double bytes_per_second) {
    constexpr double kTicksPerSecond =
        static_cast<double>(Duration::period::den) / Duration::period::num;
    return Duration(
        std::llround(static_cast<double>(bytes) / bytes_per_second * kTicksPerSecond));
}

/// One port. `Time` is a time point, or a duration since the start.
template <typename Time>
class LinkPort {
  public:
    using Duration = decltype(Time() - Time());  ///< A difference of two times.

    /// When the first and the last byte of a frame pass the port.
    struct Passage {
        Time begin{}, end{};
    };

    /// Adds a frame that reaches the port at `when` and occupies the port for `duration`;
    /// returns when the frame passes the port. The frame gets the first idle time from
    /// `when` on, in several pieces if the idle times are short. So a frame that is added
    /// late can use the idle time before frames that reach the port later.
    Passage add(Time when, Duration duration) {
        // Skip the passages that end before `when`, and the passage that contains `when`.
        when = std::max(when, forgotten_);
        const auto first = std::ranges::lower_bound(busy_, when, {}, &Passage::end);
        Passage passage{when, when + duration};
        auto last = first;
        if (last != busy_.end() && last->begin <= when) {
            passage = {last->end, last->end + duration};
            ++last;
        }
        if (duration == Duration::zero()) return passage;

        // Each passage that begins before the new passage ends interrupts the new
        // passage.
        for (; last != busy_.end() && last->begin < passage.end; ++last)
            passage.end += last->end - last->begin;

        // Merge the new passage with the passages that it touches: there is no gap left.
        Passage whole = passage;
        if (first != last) whole.begin = std::min(first->begin, whole.begin);
        if (last != busy_.end() && last->begin == whole.end) whole.end = (last++)->end;
        busy_.insert(busy_.erase(first, last), whole);
        if (busy_.size() > kMostKept) {
            forgotten_ = busy_.front().end;
            busy_.erase(busy_.begin());
        }
        return passage;
    }

    /// Returns when all frames added so far have passed.
    Time free_at() const { return busy_.empty() ? forgotten_ : busy_.back().end; }

  private:
    static constexpr size_t kMostKept = 32;

    std::vector<Passage> busy_;  // in order of time, with gaps between them
    Time forgotten_{};           // a new frame cannot pass before this time
};

}  // namespace mini::dist
