#include "libmini/tools/minirun/port.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const std::string& address, int port) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int failure =
        getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (failure != 0)
        throw Error(concat("--master-addr ", address, ": ", gai_strerror(failure),
                           "; give an address of this machine, such as 127.0.0.1"));
    return {found, freeaddrinfo};
}

std::string advice(const std::string& address, int error_number) {
    switch (error_number) {
        case EADDRINUSE:
            return "; choose another --master-port, or leave it out and a free one is "
                   "taken";
        case EADDRNOTAVAIL:
            return concat("; ", address,
                          " is no address of this machine: leave --master-addr out");
        case EACCES:
            return "; ports below 1024 belong to root: choose a higher --master-port";
    }
    return "";
}

int bound_port(int fd) {
    sockaddr_storage own{};
    socklen_t size = sizeof(own);
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0)
        throw Error(system_message("getsockname", errno));
    if (own.ss_family == AF_INET6)
        return ntohs(reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
    return ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

}  // namespace

ChosenPort choose_port(const std::string& address, int port) {
    const AddressList target = resolve(address, port);
    Descriptor socket(::socket(target->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) throw Error(system_message("socket", errno));

    // A fixed port may have connections of the last job in TIME_WAIT, which the store's
    // own SO_REUSEADDR will pass over too. A free one must be ours alone, so it is bound
    // without; with it afterwards, so that rank 0 may listen there, who names the port.
    const int no = 0, yes = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, port != 0 ? &yes : &no,
               sizeof yes);
    if (bind(socket.get(), target->ai_addr, target->ai_addrlen) != 0) {
        const int failure = errno;
        throw Error(concat("cannot listen on ", address, ":", port, ": ",
                           std::generic_category().message(failure),
                           advice(address, failure)));
    }
    const int number = bound_port(socket.get());
    if (port != 0) return {number, Descriptor()};
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return {number, std::move(socket)};
}

}  // namespace mini::tools
