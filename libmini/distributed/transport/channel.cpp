#include "libmini/distributed/transport/channel.hpp"

#include <sys/socket.h>

namespace mini::dist {

void Channel::end_sending() noexcept { ::shutdown(socket().fd(), SHUT_WR); }

void Channel::close() noexcept { ::shutdown(socket().fd(), SHUT_RDWR); }

}  // namespace mini::dist
