// Helpers for the checks of lab 11: ranks on the simulated cluster, each with a transport that
// watches its calls.
//
// A WatchedTransport's send does not begin before the receiver has called recv, as with large
// messages over real sockets. So an algorithm that works only with buffered messages deadlocks
// every time. Its journal lists the calls. Time is virtual: a message takes one "turn", and no
// time for its bytes, so the time of a run is the number of turns one after another.

#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/simulation/cluster.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab11 {

using Values = std::vector<float>;
using dist::VirtualTime;

constexpr VirtualTime kTurn = std::chrono::microseconds(100);
constexpr VirtualTime kPoll = kTurn / 100;     // how often a blocked send looks
constexpr VirtualTime kPatience = kTurn * 90;  // more turns than any algorithm needs
constexpr const char* kLinks = "1000Gbit,100us";

/// One call of a rank. `to` and `from` are -1 where it does not send or receive.
struct Step {
    int to = -1, from = -1;
    size_t sent = 0, received = 0;  // bytes
    bool operator==(const Step&) const = default;
};
using Journal = std::vector<Step>;

inline std::string in_words(const Journal& journal) {
    std::string text;
    for (const Step& step : journal) {
        text += text.empty() ? "" : ", ";
        if (step.to >= 0) text += concat("send ", step.sent, " B to ", step.to);
        if (step.to >= 0 && step.from >= 0) text += " while ";
        if (step.from >= 0) text += concat("recv ", step.received, " B from ", step.from);
    }
    return text.empty() ? "nothing" : text;
}

/// "1 rank", "2 ranks".
inline std::string counted(auto n, const std::string& thing) {
    return concat(n, " ", thing, n == 1 ? "" : "s");
}

inline bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
    return !a.empty() && !b.empty() && a.data() < b.data() + b.size() &&
           b.data() < a.data() + a.size();
}

/// The receives of all ranks, counted by sender and receiver.
struct Receives {
    std::map<std::pair<int, int>, int> called, done;
};

class WatchedTransport : public dist::Transport {
  public:
    WatchedTransport(dist::SimulatedTransport& inner, Receives& receives)
        : inner_(inner), receives_(receives) {}

    Journal journal;

    int rank() const override { return inner_.rank(); }
    int world_size() const override { return inner_.world_size(); }
    VirtualTime now() const { return inner_.now(); }
    void sleep_until(VirtualTime when) { inner_.sleep_until(when); }

    void send(int to, std::span<const std::byte> out) override {
        journal.push_back({.to = to, .sent = out.size()});
        const int number = ++sent_[to];
        await(receives_.called[{rank(), to}], number, to);
        inner_.send(to, out);
        await(receives_.done[{rank(), to}], number, to);
    }

    void recv(int from, std::span<std::byte> in,
              const dist::Combine& combine = {}) override {
        journal.push_back({.from = from, .received = in.size()});
        ++receives_.called[{from, rank()}];
        inner_.recv(from, in, combine);
        ++receives_.done[{from, rank()}];
    }

    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const dist::Combine& combine = {}) override {
        journal.push_back(
            {.to = to, .from = from, .sent = out.size(), .received = in.size()});
        if (overlap(out, in))
            throw Error(concat("rank ", rank(), " receives from rank ", from,
                               " into the buffer that it sends to rank ", to,
                               ": the two of a send_recv must not overlap"));
        ++sent_[to];
        ++receives_.called[{from, rank()}];
        inner_.send_recv(to, out, from, in, combine);
        ++receives_.done[{from, rank()}];
    }

  private:
    // Waits until the receiver has counted up to `number`.
    void await(const int& count, int number, int to) {
        const VirtualTime limit = now() + kPatience;
        while (count < number) {
            if (now() > limit)
                throw Error(
                    concat("deadlock: rank ", rank(), " sends to rank ", to,
                           ", which does not receive (a send blocks until then); it has "
                           "called: ",
                           in_words(journal)));
            sleep_until(now() + kPoll);
        }
    }

    dist::SimulatedTransport& inner_;
    Receives& receives_;
    std::map<int, int> sent_;
};

/// What a run came to, by rank.
struct Seen {
    std::vector<Values> values;
    std::vector<Journal> journals;
    int turns = 0;  // one after another, until the last rank had returned
    size_t messages_left = 0;
};

/// Runs `body` on every rank, with the values of `first_values(rank)`.
inline Seen on_cluster(int ranks, const std::function<Values(int)>& first_values,
                       const std::function<void(WatchedTransport&, Values&)>& body) {
    Seen seen;
    seen.values.resize(static_cast<size_t>(ranks));
    seen.journals.resize(static_cast<size_t>(ranks));
    Receives receives;
    const auto on_a_rank = [&](dist::SimulatedTransport& inner) {
        const auto r = static_cast<size_t>(inner.rank());
        WatchedTransport transport(inner, receives);
        seen.values[r] = first_values(inner.rank());
        body(transport, seen.values[r]);
        seen.journals[r] = transport.journal;
    };
    const auto report = dist::run_cluster(
        {.world_size = ranks, .links = dist::parse_links(kLinks)}, on_a_rank);
    seen.turns = static_cast<int>(
        std::round(dist::seconds_of(report.time) / dist::seconds_of(kTurn)));
    seen.messages_left = report.messages_left;
    return seen;
}

/// Rank r's values r + i + 1: sums of small integers are exact.
inline std::function<Values(int)> integers(size_t n) {
    return [n](int rank) {
        Values values;
        for (size_t i = 0; i < n; ++i)
            values.push_back(static_cast<float>(rank) + static_cast<float>(i) + 1);
        return values;
    };
}

/// Values whose sum has other last bits if they are added in another order.
inline std::function<Values(int)> fractions(size_t n) {
    return [n](int rank) {
        Values values;
        for (size_t i = 0; i < n; ++i)
            values.push_back(
                std::sin(static_cast<float>(rank) * 1.7f + static_cast<float>(i)) * 1e3f);
        return values;
    };
}

/// The sum over the ranks of integers(n).
inline Values sum_of_integers(int ranks, size_t n) {
    Values sum(n);
    for (int rank = 0; rank < ranks; ++rank)
        for (size_t i = 0; i < n; ++i) sum[i] += integers(n)(rank)[i];
    return sum;
}

/// ceil(log2(ranks)).
inline int rounds_of(int ranks) {
    int rounds = 0;
    while ((1 << rounds) < ranks) ++rounds;
    return rounds;
}

struct Sent {
    int messages = 0;
    size_t bytes = 0;
    bool operator==(const Sent&) const = default;
};

inline Sent sent_by(const Journal& journal) {
    Sent sent;
    for (const Step& step : journal)
        if (step.to >= 0) sent = {sent.messages + 1, sent.bytes + step.sent};
    return sent;
}

inline dist::Elements elements(Values& values) {
    return dist::Elements(std::span<float>(values));
}

using AllReduce = void (*)(dist::Transport&, dist::Elements, dist::ReduceOp);

/// What any all-reduce does; `hint` ends the stories.
void check_sums(AllReduce all_reduce, const std::string& hint);
void check_operations(AllReduce all_reduce, const std::string& hint);
void check_bits(AllReduce all_reduce, const std::string& hint);

}  // namespace mini::lab11
