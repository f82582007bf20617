#include "libmini/distributed/transport/transport.hpp"

#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {

std::string describe(const PointMessage& message) {
    const bool sends = message.direction == PointMessage::Direction::kSend;
    const std::string peer =
        message.peer == kAnySource ? "any rank" : concat("rank ", message.peer);
    return concat(
        sends ? "send to " : "recv from ", peer, " (tag ", tag_name(message.tag), ", ",
        message.data.size() / item_size(message.dtype), " ", message.dtype, ")");
}

void finish(PointMessage& message) {
    message.done = true;
    const auto finished = std::exchange(message.finished, nullptr);
    if (finished) finished();
}

}  // namespace mini::dist
