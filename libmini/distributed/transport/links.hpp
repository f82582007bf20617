// The links of a simulated (simulation/network.hpp) or emulated (emulated_link.hpp)
// cluster, read from a line of text, and the ports at which messages queue.
//
//     100Gbit,5us                             every rank has its own link
//     100Gbit,5us; hosts of 8: 800Gbit,1us    the 8 ranks of a host share one link to
//                                             other hosts; 800Gbit,1us within a host
//     100Gbit,5us; rank 3 at 0.25             rank 3 has a quarter of the rate
//
//     out port of rank a    | a0 | a1 |
//                             \    \      the link's delay
//     in port of rank b          | a0 | c0 | a1 |     c0 is from another rank
//
// A message occupies the sender's out port for bytes / rate. Its first byte reaches the
// receiver's in port one delay after it has left the out port, and the message occupies
// this port for the same time. So it takes bytes / rate + delay: the receiver receives
// the first bytes while the sender still sends the others (cut-through). Messages that
// reach a port at the same time queue. Between two ranks with different rates, the lower
// rate is used.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace mini::dist {

/// The rate and the delay of a link.
struct LinkSpec {
    double bytes_per_second = 0;
    std::chrono::nanoseconds delay{};  // one way
};

/// All links of a cluster.
struct Links {
    LinkSpec network;             // between hosts
    LinkSpec inside;              // between the ranks of one host
    int ranks_per_host = 1;       // 1: `inside` is not used
    std::map<int, double> rates;  // of each slow rank: its share of the link's rate
};

/// Parses text of the form above: rates from 1kbit to 1000Gbit a second (kbit, Mbit or
/// Gbit), and delays from 1us to 60s (us, ms or s), 0 if there is none. Throws UsageError
/// quoting the part that does not have this form.
Links parse_links(const std::string& text);

/// How a message travels from one rank to another.
struct Route {
    size_t out_port = 0, in_port = 0;  // out ports and in ports are numbered separately
    double bytes_per_second = 0;
    std::chrono::nanoseconds delay{};
};

/// Returns the number of out ports of `world_size` ranks, which equals the number of in
/// ports.
size_t port_count(const Links& links, int world_size);

/// Returns how a message travels from rank `from` to rank `to`. REQUIRES: the ranks are
/// different.
Route route(const Links& links, int from, int to);

/// Returns the number of each rank's host, by rank; the first host is 0.
std::vector<int> hosts_of(const Links& links, int world_size);

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
