// Tags of messages from point to point, and whose they are:
//
//     0 .. 2^63 - 1    the program's own
//     2^63 ...         the library's: every backend carries them, over its side channel where
//                      its own library has no tags as large (backends/verify.hpp)

#pragma once

#include <cstdint>

namespace mini::dist {

/// The first tag that is not the program's.
constexpr uint64_t kReservedTags = uint64_t{1} << 63;

/// The library's own tags.
enum ReservedTag : uint64_t {
    // Messages of a side channel, which no group sends.
    kFingerprintTag = kReservedTags,
    kAskTag,
    kHereTag,
    kGoodbyeTag,

    // Messages of a group, sent by the library's own calls.
    kArrivedTag = kReservedTags + 16,  // monitored_barrier: to rank 0
    kReleasedTag,                      // monitored_barrier: from rank 0
    kEndOfGroupTags,
};

/// The receipt for message `slot` of backend gloo, over its side channel.
constexpr uint64_t receipt_tag(uint64_t slot) {
    return kReservedTags + (slot << 8) + 0xff;
}

/// Whether a group may send a message with this tag.
constexpr bool is_group_tag(uint64_t tag) {
    return tag < kReservedTags || (tag >= kArrivedTag && tag < kEndOfGroupTags);
}

}  // namespace mini::dist
