// Carries out one request for the store's server, without sockets.

#pragma once

#include <chrono>
#include <string>

#include "libmini/distributed/store/store_protocol.hpp"

namespace mini::dist {

/// Limits on the clients of a server. `bytes` is the budget for all memory: three
/// quarters of `bytes` are for keys and values, the rest is for incomplete requests and
/// unsent replies.
struct StoreLimits {
    size_t connections = 4096;  // connections that have sent a valid Hello
    size_t strangers = 64;      // connections that have not sent a Hello yet
    size_t keys = 1 << 20;
    size_t bytes = 1 << 30;
    std::chrono::milliseconds hello_time = std::chrono::seconds(2);

    size_t table_bytes() const { return bytes / 4 * 3; }
    size_t buffer_bytes() const { return bytes - table_bytes(); }
};

/// Carries out a request with any command except kGet and kWait, which may have to wait
/// for a key. Returns the value of the reply. Throws Error, and leaves the table
/// unchanged, if the request cannot be carried out.
std::string carry_out(protocol::Request request, StoreTable& table,
                      const StoreLimits& limits);

}  // namespace mini::dist
