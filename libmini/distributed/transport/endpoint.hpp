// The addresses at which a rank of a mesh listens, as it publishes them in the store.

#pragma once

#include <cstdint>
#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::dist {

/// The addresses at which a rank listens.
struct Endpoint {
    std::string host;
    Address address;
    std::string local_name;  // "-" if it uses TCP only
    uint64_t token = 0;      // random; identifies the rank's listener
};

/// Returns the endpoint as text without line breaks, which parse_endpoint reads.
std::string to_text(const Endpoint& endpoint);
Endpoint parse_endpoint(const std::string& text);

/// Returns whether two ranks can share memory: both are on one host and belong to one
/// user.
bool share_memory(const Endpoint& a, const Endpoint& b);

}  // namespace mini::dist
