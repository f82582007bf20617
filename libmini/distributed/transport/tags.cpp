#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {

std::string tag_name(uint64_t tag) {
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

}  // namespace mini::dist
