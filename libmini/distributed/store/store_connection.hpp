// A client's connection to the server of a store: requests go out, replies come back.
//
//     sent by the client      | 4 get a |            | 5 check a |
//     received                          deadline                  | 4 value | 5 "1" |
//
// Reply 4 is late: nothing waits for it any more. Its id tells it from reply 5.

#pragma once

#include <cstdint>
#include <string>

#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/store/store_protocol.hpp"

namespace mini::dist {

/// The client's side, after both sides have sent a Hello.
struct StoreConnection {
    Socket socket;  // non-blocking
    uint32_t next_id = 0;
    std::string inbox = {};  // received bytes that no call has used yet
};

/// Sends `request` with the id 0 in the first call, 1 in the second, ..., and returns
/// the reply with this id, of any status. Blocks until it is complete. Drops replies with
/// other ids: their requests have timed out. Throws Timeout if the deadline passes,
/// ConnectionClosed if the server is gone, and the Error of take_reply().
///
/// A Timeout of a get or wait that was sent completely leaves the socket open, and the
/// part of a reply that has arrived is not lost. Every other error closes the socket:
/// after a part of a request the server would take the next request for its rest, and a
/// server that does not reply to a set in time is stuck. REQUIRES: the socket is open.
protocol::Reply ask_server(StoreConnection& connection, protocol::Request request,
                           Deadline deadline);

}  // namespace mini::dist
