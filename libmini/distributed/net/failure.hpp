// Failure: an error as plain data. The communication thread passes a Failure to the
// waiting caller; the rank that detected an error sends the Failure's text to all other
// ranks, and to the process that started it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mini::dist {

struct Failure {
    enum class Kind : uint8_t { kPeerLost, kTimeout, kMismatch, kOther };

    Kind kind = Kind::kOther;
    int rank = -1;  // the rank that is gone (kPeerLost) or silent (kTimeout); -1: none
    std::string message;
};

/// The longest message, in bytes, of a failure that a rank sends or accepts.
constexpr size_t kMaxFailureBytes = 4000;

/// Returns the failure as text: kind, rank and message, which is cut to kMaxFailureBytes.
std::string to_text(const Failure& failure);

/// Parses text of to_text(). Any other text is the message of a kOther.
Failure parse_failure(const std::string& text);

/// Returns the exception that is being handled, as a Failure. REQUIRES: called inside a
/// catch block.
Failure current_failure();

/// Throws PeerLost, Timeout, MismatchedCollective or Error with the failure's message;
/// PeerLost and Timeout have its rank, too.
[[noreturn]] void throw_failure(const Failure& failure);

/// Returns `failure` as another rank throws it after rank `reporter` has reported it:
/// with the same kind and rank, except that kOther becomes kPeerLost with rank
/// `reporter`.
Failure reported(const Failure& failure, int reporter);

}  // namespace mini::dist
