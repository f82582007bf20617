// A port of a link: bytes pass it at the link's rate, one frame or message after another.
//
//     out port    | a0 | a1 |                      of the sender
//                   \    \      the link's delay
//     in port          | a0 | b0 | a1 |            of the receiver; b0 is from another rank
//
// A frame reaches the in port the delay after its first byte has left. So one frame alone
// takes bytes / rate + delay, however long it is: it is received while it is still sent
// (cut-through). Frames that reach a port at the same time queue.
//
// Two networks use this model: the one that EmulatedLink imposes on real processes, and the
// simulated one (simulation/network.hpp).

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace mini::dist {

/// How long `bytes` occupy a port, rounded to a tick of `Duration`.
template <typename Duration>
Duration time_to_send(size_t bytes, double bytes_per_second) {
    constexpr double kTicksPerSecond =
        static_cast<double>(Duration::period::den) / Duration::period::num;
    return Duration(
        std::llround(static_cast<double>(bytes) / bytes_per_second * kTicksPerSecond));
}

/// `Time`: a time point, or a duration since the start.
template <typename Time>
class LinkPort {
  public:
    using Duration = decltype(Time() - Time());  ///< A difference of two times.

    /// When the first and the last byte of a frame pass the port.
    struct Passage {
        Time begin{}, end{};
    };

    /// Adds a frame that reaches the port at `when` and occupies it for `duration`. It takes
    /// the first idle time from `when` on, in pieces if there are gaps: a frame that is added
    /// late still passes before those that reach the port after it, where they leave time.
    Passage add(Time when, Duration duration) {
        // Skip what ends before the frame reaches the port, and what occupies the port then.
        when = std::max(when, forgotten_);
        const auto first = std::ranges::lower_bound(busy_, when, {}, &Passage::end);
        Passage passage{when, when + duration};
        auto last = first;
        if (last != busy_.end() && last->begin <= when) {
            passage = {last->end, last->end + duration};
            ++last;
        }
        if (duration == Duration::zero()) return passage;

        // Each passage that begins before this one ends interrupts it.
        for (; last != busy_.end() && last->begin < passage.end; ++last)
            passage.end += last->end - last->begin;

        // The port is now occupied without a gap: make one passage of them all.
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

    /// When all frames added so far have passed.
    Time free_at() const { return busy_.empty() ? forgotten_ : busy_.back().end; }

  private:
    static constexpr size_t kMostKept = 32;

    std::vector<Passage> busy_;  // in order of time, with gaps between them
    Time forgotten_{};           // nothing passes before this time
};

}  // namespace mini::dist
