// Failure: an error as plain data, which can be passed where an exception cannot: from
// the communication thread to the waiting caller, and from the rank that detected the
// error to all other ranks.

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

/// Returns the exception that is being handled. REQUIRES: called inside a catch block.
Failure current_failure();

/// Throws PeerLost, Timeout, MismatchedCollective or Error with the failure's message.
[[noreturn]] void throw_failure(const Failure& failure);

/// Returns the failure that another rank throws after rank `reporter` has reported
/// `failure`: the same kind, but kPeerLost of the reporter in place of kOther.
Failure reported(const Failure& failure, int reporter);

}  // namespace mini::dist
