// Helpers for the checks of lab 11: ranks on the simulated cluster, each with a transport
// that records its calls.
//
// WatchedTransport::send does not begin before the receiver has called recv, as with
// large messages over real sockets. So an algorithm that works only with buffered
// messages deadlocks every time. The member `journal` lists the rank's calls. Time is
// virtual: each message takes one "turn", whatever its size. So the time of a run, in
// turns, is the largest number of messages that waited for each other in a row.

#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/collectives/elements.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "tests/support/catch.hpp"

namespace mini::lab11 {

using Values = std::vector<float>;
using dist::VirtualTime;

constexpr VirtualTime kTurn = std::chrono::microseconds(100);
constexpr VirtualTime kPoll = kTurn / 100;     // a blocked send checks again after kPoll
constexpr VirtualTime kPatience = kTurn * 90;  // more turns than any algorithm needs
constexpr const char* kLinks = "1000Gbit,100us";

/// One call of a rank. `to` is -1 if the call does not send, and `from` is -1 if the call
/// does not receive.
struct Step {
    int to = -1, from = -1;
    size_t sent = 0, received = 0;   // bytes
    const std::byte* out = nullptr;  // where the bytes that are sent begin
    bool operator==(const Step& other) const {
        return to == other.to && from == other.from && sent == other.sent &&
               received == other.received;
    }
};
using Journal = std::vector<Step>;

/// Returns "send 12 B to 1, recv 12 B from 3".
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

/// Returns "1 rank" or "2 ranks".
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
    WatchedTransport(dist::SimulatedTransport& inner, Receives& receives, Journal& calls)
        : journal(calls), inner_(inner), receives_(receives) {}

    Journal& journal;

    int rank() const override { return inner_.rank(); }
    int world_size() const override { return inner_.world_size(); }
    VirtualTime now() const { return inner_.now(); }
    void sleep_until(VirtualTime when) { inner_.sleep_until(when); }

    void send(int to, std::span<const std::byte> out) override {
        journal.push_back({.to = to, .sent = out.size(), .out = out.data()});
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
        journal.push_back({.to = to,
                           .from = from,
                           .sent = out.size(),
                           .received = in.size(),
                           .out = out.data()});
        if (overlap(out, in))
            throw Error("rank ", rank(), " receives from rank ", from,
                        " into the buffer that it sends to rank ", to,
                        ": the two of a send_recv must not overlap");
        ++sent_[to];
        ++receives_.called[{from, rank()}];
        inner_.send_recv(to, out, from, in, combine);
        ++receives_.done[{from, rank()}];
    }

  private:
    // Blocks until the receiver `to` has increased `count` to `number`.
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

/// The results of a run.
struct Seen {
    std::vector<Values> values;     // by rank
    std::vector<Journal> journals;  // by rank
    int turns = 0;                  // the time at which the last rank returned
    size_t messages_left = 0;
};

/// Returns the calls of each rank that has not returned, and the names of those that have.
inline std::string in_words(const std::vector<Journal>& journals,
                            const std::vector<char>& has_returned) {
    std::string text, returned;
    for (size_t rank = 0; rank < journals.size(); ++rank)
        if (has_returned[rank])
            returned += concat(returned.empty() ? "" : ", ", rank);
        else
            text += concat("; rank ", rank, " has called: ", in_words(journals[rank]));
    return text + (returned.empty() ? "" : "; ranks that have returned: " + returned);
}

/// Runs `body` on every rank, which begins with the values `first_values(rank)`. Returns
/// the values that each rank ends with, and the calls of each rank.
inline Seen on_cluster(int ranks, const std::function<Values(int)>& first_values,
                       const std::function<void(WatchedTransport&, Values&)>& body) {
    Seen seen;
    seen.values.resize(static_cast<size_t>(ranks));
    seen.journals.resize(static_cast<size_t>(ranks));
    Receives receives;
    std::vector<char> has_returned(seen.journals.size());
    const auto on_a_rank = [&](dist::SimulatedTransport& inner) {
        const auto r = static_cast<size_t>(inner.rank());
        WatchedTransport transport(inner, receives, seen.journals[r]);
        seen.values[r] = first_values(inner.rank());
        body(transport, seen.values[r]);
        has_returned[r] = true;
    };
    try {
        const auto report = dist::run_cluster(
            {.world_size = ranks, .links = dist::parse_links(kLinks)}, on_a_rank);
        seen.turns = static_cast<int>(
            std::round(dist::seconds_of(report.time) / dist::seconds_of(kTurn)));
        seen.messages_left = report.messages_left;
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        const std::string text = error.what();
        if (!text.starts_with("deadlock after")) throw;
        throw Error(text + in_words(seen.journals, has_returned));
    }
    return seen;
}

/// Value i of rank r is r + i + 1: small integers, so their sums are exact.
inline std::function<Values(int)> integers(size_t n) {
    return [n](int rank) {
        Values values;
        for (size_t i = 0; i < n; ++i)
            values.push_back(static_cast<float>(rank) + static_cast<float>(i) + 1);
        return values;
    };
}

/// The last bits of the sum of these values depend on the order of the additions.
inline std::function<Values(int)> fractions(size_t n) {
    return [n](int rank) {
        Values values;
        for (size_t i = 0; i < n; ++i)
            values.push_back(
                std::sin(static_cast<float>(rank) * 1.7f + static_cast<float>(i)) * 1e3f);
        return values;
    };
}

/// Returns the sum of integers(n) over the ranks.
inline Values sum_of_integers(int ranks, size_t n) {
    Values sum(n);
    for (int rank = 0; rank < ranks; ++rank)
        for (size_t i = 0; i < n; ++i) sum[i] += integers(n)(rank)[i];
    return sum;
}

/// Returns ceil(log2(ranks)).
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

/// Returns a float with nine digits, which differ if its bits do.
inline std::string in_digits(float value) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
    return text.data();
}

inline dist::Elements elements(Values& values) {
    return dist::Elements(std::span<float>(values));
}

using AllReduce = void (*)(dist::Transport&, dist::Elements, dist::ReduceOp);

/// Returns a line of the failure report: what a rank did, in the words of the task.
using Remark = std::function<std::string(const Seen&, int rank)>;

/// Returns what each rank has after an all-reduce.
Seen all_reduced(AllReduce all_reduce, int ranks,
                 const std::function<Values(int)>& first_values,
                 dist::ReduceOp op = dist::ReduceOp::kSum);

/// Checks that every rank has the sum.
void check_sums(AllReduce all_reduce, const Remark& remark = {});
/// Checks the results of all five operations.
void check_operations(AllReduce all_reduce);
/// Checks the average of float16 whose sum would overflow.
void check_half_average(AllReduce all_reduce);
/// Checks that the results of all ranks are bitwise identical. `why`: a line of the report.
void check_bits(AllReduce all_reduce, const std::string& why);

}  // namespace mini::lab11
