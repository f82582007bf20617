// Hello: the first 48 bytes on every connection, in both directions. A Hello names the
// sender and the peer that the sender expects, and proves that the sender belongs to this
// run. So a rank recognises a peer that is another program (a port scanner, a browser, an
// echo server, a rank of another run) by its first 48 bytes, and closes the connection.
//
//     role of the side that    for the store                   for the mesh
//     connects                 kStoreClient; expects rank 0    kMeshConnector
//     accepts                  kStoreServer; is rank 0         kMeshAcceptor
//
// The cookie keeps other runs and other programs out. It is sent unencrypted, so a
// program that can read the network traffic can read the cookie.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace mini::dist {

/// 16 random bytes that all ranks of a run know; all zero when the run has no cookie.
using Cookie = std::array<std::byte, 16>;

/// Parses 32 hexadecimal digits. Throws UsageError for any other text.
Cookie parse_cookie(const std::string& hex_digits);

struct Hello {
    enum class Role : uint32_t {
        kStoreClient = 1,
        kStoreServer,
        kMeshConnector,
        kMeshAcceptor
    };

    std::array<char, 8> magic{};
    uint32_t version = 0;
    Role role = Role::kStoreClient;
    Cookie cookie{};
    int32_t rank = -1;   // the sender's rank; -1: unspecified
    int32_t peer = -1;   // the rank that the sender expects; -1: any
    uint64_t token = 0;  // the random number of the accepting rank's listener; store: 0
};
static_assert(sizeof(Hello) == 48, "a Hello has no padding on the wire");

Hello make_hello(Hello::Role role, const Cookie& cookie, int rank, int peer,
                 uint64_t token = 0);

/// Removes the Hello at the start of `bytes` and returns it. Returns std::nullopt while
/// the Hello is incomplete.
std::optional<Hello> take_hello(std::string& bytes);

/// Compares the peer's Hello `theirs` with this side's Hello `mine`. Returns "" if each
/// side is the peer that the other side expects; else a description of the error.
std::string hello_error(const Hello& theirs, const Hello& mine);

}  // namespace mini::dist
