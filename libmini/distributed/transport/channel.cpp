#include "libmini/distributed/transport/channel.hpp"

#include <poll.h>
#include <sys/socket.h>

namespace mini::dist {

void Channel::end_sending() noexcept { system().shutdown(socket().fd(), SHUT_WR); }

void Channel::close() noexcept { system().shutdown(socket().fd(), SHUT_RDWR); }

short Channel::connection_events(int interest) {
    int events = 0;
    if (interest & kToSend) events |= POLLOUT;
    if (interest & kToReceive) events |= POLLIN;
    if (interest == kToSend) events |= POLLRDHUP;
    return static_cast<short>(events);
}

}  // namespace mini::dist
