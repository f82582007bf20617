// Failure: an error as plain data. The communication thread passes a Failure to the
// waiting caller; the rank that detected an error sends a Failure to all other ranks.

#pragma once

#include <cstdint>
#include <string>

namespace mini::dist {

struct Failure {
    enum class Kind : uint8_t { kPeerLost, kTimeout, kMismatch, kOther };

    Kind kind = Kind::kOther;
    int rank = -1;  // the rank that is gone (kPeerLost) or silent (kTimeout); -1: none
    std::string message;
};

/// Returns the exception that is being handled, as a Failure. REQUIRES: called inside a
/// catch block.
Failure current_failure();

/// Throws PeerLost, Timeout, MismatchedCollective or Error with the failure's message.
[[noreturn]] void throw_failure(const Failure& failure);

/// Returns `failure` as another rank throws it after rank `reporter` has reported it:
/// with the same kind and rank, except that kOther becomes kPeerLost with rank
/// `reporter`.
Failure reported(const Failure& failure, int reporter);

}  // namespace mini::dist
