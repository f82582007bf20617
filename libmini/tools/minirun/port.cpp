#include "libmini/tools/minirun/port.hpp"

#include <utility>

namespace mini::tools {

ChosenPort choose_port(const std::string& address, int port) {
    dist::Socket hold = dist::reserve_port({address, port});
    if (port != 0) return {port, dist::Socket()};  // a fixed port is checked, not held
    const int number = dist::local_address(hold).port;
    return {number, std::move(hold)};
}

}  // namespace mini::tools
