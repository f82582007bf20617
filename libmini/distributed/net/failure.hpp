// Failure: an error as plain data, which can travel where an exception cannot: from the
// communication thread to the waiting caller, and from the rank that found it to all
// others.

#pragma once

#include <cstdint>
#include <string>

namespace mini::dist {

struct Failure {
    enum class Kind : uint8_t { kPeerLost, kTimeout, kMismatch, kOther };

    Kind kind = Kind::kOther;
    int rank = -1;  // the rank that is gone (kPeerLost) or silent (kTimeout)
    std::string message;
};

/// The exception being handled. REQUIRES: called inside a catch block.
Failure current_failure();

/// Throws PeerLost, Timeout, MismatchedCollective or Error with the failure's message.
[[noreturn]] void throw_failure(const Failure& failure);

/// What `failure`, found by rank `reporter`, means to another rank: the same, and for
/// kOther that the reporter is gone.
Failure reported(const Failure& failure, int reporter);

}  // namespace mini::dist
