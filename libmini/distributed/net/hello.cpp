#include "libmini/distributed/net/hello.hpp"

#include <charconv>
#include <cstring>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr std::array<char, 8> kMagic = {'l', 'i', 'b', 'm', 'i', 'n', 'i', '\n'};
constexpr uint32_t kVersion = 2;

// Returns whether a role is one of the mesh's; the other roles are the store's.
bool is_of_mesh(Hello::Role role) {
    return role == Hello::Role::kMeshConnector || role == Hello::Role::kMeshAcceptor;
}

}  // namespace

Cookie parse_cookie(const std::string& hex_digits) {
    Cookie cookie{};
    bool good = hex_digits.size() == 2 * cookie.size();
    for (size_t i = 0; good && i < cookie.size(); ++i) {
        uint8_t value = 0;
        const char* digits = hex_digits.data() + 2 * i;
        const auto [end, code] = std::from_chars(digits, digits + 2, value, 16);
        good = code == std::errc() && end == digits + 2;
        cookie[i] = std::byte{value};
    }
    if (!good)
        throw UsageError(
            "MINI_STORE_COOKIE must be 32 hexadecimal digits, the same on all ranks");
    return cookie;
}

Hello make_hello(Hello::Role role, const Cookie& cookie, int rank, int peer,
                 uint64_t token) {
    Hello hello;
    hello.magic = kMagic;
    hello.version = kVersion;
    hello.role = role;
    hello.cookie = cookie;
    hello.rank = rank;
    hello.peer = peer;
    hello.token = token;
    return hello;
}

std::optional<Hello> take_hello(std::string& bytes) {
    Hello hello;
    if (bytes.size() < sizeof hello) return std::nullopt;
    std::memcpy(&hello, bytes.data(), sizeof hello);
    bytes.erase(0, sizeof hello);
    return hello;
}

std::string hello_error(const Hello& theirs, const Hello& mine) {
    if (theirs.magic != kMagic) return "it does not speak libmini's protocol";
    if (theirs.version != kVersion)
        return concat("it speaks version ", theirs.version, " of the protocol, this is ",
                      kVersion);
    if (theirs.role == mine.role)
        return "it sends back this side's own Hello: it is an echo server, or another "
               "client";
    if (is_of_mesh(theirs.role) != is_of_mesh(mine.role))
        return "its role does not match this side's role";
    if (theirs.cookie != mine.cookie)
        return "its cookie belongs to another run; MINI_STORE_COOKIE must be the same on "
               "all ranks";
    if (mine.peer >= 0 && theirs.rank != mine.peer)
        return concat("it is rank ", theirs.rank, ", not rank ", mine.peer);
    if (theirs.peer >= 0 && theirs.peer != mine.rank)
        return concat("it expects rank ", theirs.peer, ", not rank ", mine.rank);
    if (theirs.token != mine.token) return "its token belongs to another listener";
    return "";
}

}  // namespace mini::dist
