// Tags of point-to-point messages:
//
//     0 .. 2^63 - 1    for programs
//     2^63 ...         for libmini

#pragma once

#include <cstdint>
#include <string>

namespace mini::dist {

/// The first tag that programs cannot use.
constexpr uint64_t kReservedTags = uint64_t{1} << 63;

/// The tags that libmini uses itself.
enum ReservedTag : uint64_t {
    // Messages of a side channel; groups never send them.
    kFingerprintTag = kReservedTags,
    kAskTag,
    kHereTag,
    kGoodbyeTag,

    // Messages of a group, sent by libmini's own calls.
    kArrivedTag = kReservedTags + 16,  // monitored_barrier: to rank 0
    kReleasedTag,                      // monitored_barrier: from rank 0
    kMemberTag,                        // new_group: the addresses of the members
    kEndOfGroupTags,
};

/// Returns the name of a tag that libmini uses itself, such as "kArrivedTag"; the number
/// of another tag.
inline std::string tag_name(uint64_t tag) {
    switch (tag) {
        case kFingerprintTag: return "kFingerprintTag";
        case kAskTag: return "kAskTag";
        case kHereTag: return "kHereTag";
        case kGoodbyeTag: return "kGoodbyeTag";
        case kArrivedTag: return "kArrivedTag";
        case kReleasedTag: return "kReleasedTag";
        case kMemberTag: return "kMemberTag";
        default: return std::to_string(tag);
    }
}

/// Returns whether a group may send a message with this tag.
constexpr bool is_group_tag(uint64_t tag) {
    return tag < kReservedTags || (tag >= kArrivedTag && tag < kEndOfGroupTags);
}

}  // namespace mini::dist
