#include "libmini/distributed/transport/endpoint.hpp"

#include <sstream>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/local_socket.hpp"

namespace mini::dist {

std::string to_text(const Endpoint& endpoint) {
    return concat(endpoint.host, " ", to_text(endpoint.address), " ", endpoint.local_name,
                  " ", endpoint.token);
}

Endpoint parse_endpoint(const std::string& text) {
    std::istringstream in(text);
    Endpoint endpoint;
    std::string address;
    in >> endpoint.host >> address >> endpoint.local_name >> endpoint.token;
    endpoint.address = parse_address(address);
    return endpoint;
}

bool share_memory(const Endpoint& a, const Endpoint& b) {
    return a.host == b.host && a.local_name != "-" && b.local_name != "-" &&
           belong_to_one_user(a.local_name, b.local_name);
}

}  // namespace mini::dist
