#include "libmini/distributed/store/store_connection.hpp"

#include <poll.h>

#include <cstdint>
#include <span>
#include <utility>

// [lab10 file]
namespace mini::dist {
namespace {

// Returns the reply with this id. What arrives before the deadline stays in the inbox.
protocol::Reply receive_reply(StoreConnection& from, uint32_t id, Deadline deadline) {
    // [lab10.5] Read until the inbox holds the reply with this id; skip older replies.
    while (true) {
        while (auto reply = protocol::take_reply(from.inbox))
            if (reply->id == id) return *std::move(reply);

        const size_t old = from.inbox.size();
        from.inbox.resize(old + protocol::kReadBytes);
        const auto free = std::as_writable_bytes(std::span(from.inbox).subspan(old));
        const size_t n = recv_some(from.socket, free);
        from.inbox.resize(old + n);
        if (n == 0 && !wait_for(from.socket, POLLIN, deadline))
            throw Timeout("no reply before the deadline");
    }
    // [lab10.5]
}

}  // namespace

protocol::Reply ask_server(StoreConnection& connection, protocol::Request request,
                           Deadline deadline) {
    // [lab10.5] Send the request and receive its reply; most errors close the socket.
    request.id = connection.next_id++;
    const std::string bytes = protocol::to_bytes(request);
    bool is_sent = false;
    try {
        send_all(connection.socket, std::as_bytes(std::span(bytes)), deadline);
        is_sent = true;
        return receive_reply(connection, request.id, deadline);
    } catch (const Timeout&) {
        if (!is_sent || !request.may_wait()) connection.socket.close();
        throw;
    } catch (const Error&) {
        connection.socket.close();
        throw;
    }
    // [lab10.5]
}

}  // namespace mini::dist
// [lab10 file]
