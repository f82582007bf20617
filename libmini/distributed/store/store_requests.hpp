// What the store's server does with a request, without sockets: the part of it that the
// bytes of a client decide.

#pragma once

#include <chrono>
#include <string>

#include "libmini/distributed/store/store_protocol.hpp"

namespace mini::dist {

/// What the clients of a server may take. `bytes` is one budget for all memory: keys and
/// values get three quarters of it, and requests and answers under way the rest.
struct StoreLimits {
    size_t connections = 4096;  // of clients that have said Hello
    size_t strangers = 64;      // connections that have not said it yet
    size_t keys = 1 << 20;
    size_t bytes = 1 << 30;
    std::chrono::milliseconds hello_time = std::chrono::seconds(2);

    size_t table_bytes() const { return bytes / 4 * 3; }
    size_t buffer_bytes() const { return bytes - table_bytes(); }
};

/// Carries out a request that waits for no key, all but kGet and kWait; the answer. Throws
/// Error, and leaves the table as it was, for what cannot be done.
std::string carry_out(protocol::Request request, StoreTable& table,
                      const StoreLimits& limits);

}  // namespace mini::dist
