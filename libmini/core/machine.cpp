#include "libmini/core/machine.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini {

std::string host_name() {
    char host[256] = "?";
    ::gethostname(host, sizeof host - 1);
    return host;
}

std::string environment(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

std::string random_hex(int digits) {
    std::vector<unsigned char> bytes(static_cast<size_t>(digits));
    // getrandom returns up to 256 bytes at once.
    if (::getrandom(bytes.data(), bytes.size(), 0) != digits)
        throw Error(system_message("getrandom", errno));

    std::string text;
    for (const unsigned char byte : bytes) text += "0123456789abcdef"[byte % 16];
    return text;
}

}  // namespace mini
