// Helpers for the checks of lab 17: ranks on the simulated cluster, and how they end; and
// files.

#pragma once

#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/both_values.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/message_stream.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace mini::lab17 {

using labs::ContainsSubstring;
using test::contains;
using Ends = std::vector<dist::ProcessEnd>;

constexpr std::chrono::milliseconds kTimeout(2000);
constexpr const char* kLinks = "10Gbit,20us";

/// Returns "returned", "killed", "stuck", "PeerLost(2): ...", "Timeout: ...", ...
inline std::string how(const dist::ProcessEnd& end) {
    using How = dist::ProcessEnd::How;
    using Kind = dist::Failure::Kind;
    if (end.how == How::kReturned) return "returned";
    if (end.how == How::kKilled) return "killed";
    if (!end.failure) return "stuck: it waits forever";
    const std::string& message = end.failure->message;
    switch (end.failure->kind) {
        case Kind::kPeerLost:
            return concat("PeerLost(", end.failure->rank, "): ", message);
        case Kind::kTimeout: return concat("Timeout: ", message);
        case Kind::kMismatch: return concat("MismatchedCollective: ", message);
        case Kind::kOther: break;
    }
    return concat("Error: ", message);
}

/// Returns the virtual time at which the process ended, in seconds.
inline double seconds_of(const dist::ProcessEnd& end) {
    return std::chrono::duration<double>(end.time).count();
}

/// Returns how all ranks ended, one line each.
inline std::string story(const Ends& ends) {
    std::string text;
    for (size_t rank = 0; rank < ends.size(); ++rank)
        text += concat("\n  rank ", rank, " after ", seconds_of(ends[rank]),
                       " s: ", how(ends[rank]));
    return text;
}

/// Throws NotImplemented if a rank called a task that is not started; otherwise returns
/// `ends`.
inline Ends finished(Ends ends) {
    for (const dist::ProcessEnd& end : ends)
        if (end.failure && contains(end.failure->message, "] not started: "))
            throw NotImplemented(
                end.failure->message.substr(end.failure->message.find("[lab")));
    return ends;
}

/// Writes a file, and returns what a file has.
inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}
inline std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace mini::lab17
