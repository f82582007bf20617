#include "libmini/distributed/net/local_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include "libmini/core/machine.hpp"
#include "libmini/distributed/net/clock.hpp"

namespace mini::dist {
namespace {

constexpr std::chrono::milliseconds kLocalRetryPause(1);
constexpr int kLocalBacklog = 512;

// Room for the control message with one descriptor.
struct ControlBuffer {
    alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))]{};
};

struct LocalAddress {
    sockaddr_un address{};
    socklen_t length = 0;
};

// An abstract address begins with a zero byte.
LocalAddress local_address_of(const std::string& name) {
    LocalAddress local;
    local.address.sun_family = AF_UNIX;
    MINI_CHECK(name.size() + 1 <= sizeof local.address.sun_path, "the name \"", name,
               "\" is too long for a local address");
    std::ranges::copy(name, local.address.sun_path + 1);
    local.length =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return local;
}

Socket new_local_socket() {
    Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    MINI_CHECK(socket.is_open(), system_message("socket", errno));
    return socket;
}

// Returns a message of `part` and, in `control`, one descriptor.
msghdr message_of(iovec& part, ControlBuffer& control) {
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_LEN(sizeof(int));  // the kernel closes further ones
    return message;
}

}  // namespace

std::string random_local_name() {
    return concat("libmini-", ::geteuid(), "-", random_hex(32));
}

bool belong_to_one_user(const std::string& name, const std::string& other) {
    return name.substr(0, name.rfind('-')) == other.substr(0, other.rfind('-'));
}

Socket listen_locally(const std::string& name) {
    Socket socket = new_local_socket();
    const LocalAddress local = local_address_of(name);
    const auto* const address = reinterpret_cast<const sockaddr*>(&local.address);
    MINI_CHECK(::bind(socket.fd(), address, local.length) == 0,
               system_message("bind", errno));
    MINI_CHECK(::listen(socket.fd(), kLocalBacklog) == 0,
               system_message("listen", errno));
    return socket;
}

Socket connect_locally(const std::string& name, Deadline deadline) {
    Socket socket = new_local_socket();
    const LocalAddress local = local_address_of(name);
    const auto* const address = reinterpret_cast<const sockaddr*>(&local.address);
    while (::connect(socket.fd(), address, local.length) != 0) {
        // EAGAIN: the listener's backlog is full.
        const bool may_come = errno == EAGAIN || errno == EINTR;
        if (!may_come) throw ConnectionClosed(system_message("connect", errno));
        if (has_passed(deadline)) throw Timeout("no process accepts the connection");
        sleep_for(kLocalRetryPause);
    }
    return socket;
}

bool is_same_user(const Socket& socket) {
    ucred other{};
    socklen_t size = sizeof other;
    return ::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
           other.uid == ::geteuid();
}

void send_with_descriptor(const Socket& socket, std::span<const std::byte> bytes,
                          int descriptor) {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    ControlBuffer control;
    const msghdr message = message_of(part, control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (::sendmsg(socket.fd(), &message, MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
        throw ConnectionClosed(system_message("sendmsg", errno));
}

size_t recv_with_descriptor(const Socket& socket, std::span<std::byte> bytes,
                            Socket& descriptor) {
    iovec part{bytes.data(), bytes.size()};
    ControlBuffer control;
    msghdr message = message_of(part, control);
    const ssize_t n = ::recvmsg(socket.fd(), &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n <= 0) throw ConnectionClosed("the other side closed the connection");

    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET &&
        header->cmsg_type == SCM_RIGHTS) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
        descriptor = Socket(fd);
    } else {
        MINI_CHECK((message.msg_flags & MSG_CTRUNC) == 0,
                   "this process has no descriptors left for the memory that another "
                   "rank shares with it; raise ulimit -n");
    }
    return static_cast<size_t>(n);
}

}  // namespace mini::dist
