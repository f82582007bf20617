#include "libmini/tools/minirun/port.hpp"

#include <utility>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

// Throws Error if rank 0 cannot listen at the address. Does not check a name that has no
// address yet: rank 0 waits for it.
void check_port(const dist::Address& address) {
    try {
        dist::reserve_port(address);
    } catch (const Timeout&) {
    }
}

}  // namespace

ChosenPort choose_port(const std::string& address, int port) {
    if (port != 0) {
        check_port({address, port});
        return {port, dist::Socket()};  // a fixed port is checked, not held
    }
    dist::Socket hold = dist::reserve_port({address, 0});
    const int number = dist::local_address(hold).port;
    return {number, std::move(hold)};
}

}  // namespace mini::tools
