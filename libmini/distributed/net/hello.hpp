// The first bytes on every connection, in both directions: the sender, the peer it
// expects, and proof that it belongs to this run. Any other program that connects to one
// of our ports or listens there (a port scanner, a browser, an echo server, a rank of
// another run) is recognised by its first 48 bytes and dropped.
//
//     connects        role kStoreClient, expects rank 0        kMeshConnector, rank, peer
//     accepts         role kStoreServer, rank 0                kMeshAcceptor, rank, peer
//
// The cookie keeps other runs and other programs out. It is not encrypted: it can be read
// on the wire.

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
    int32_t rank = -1;   // of the sender; -1 if it does not matter
    int32_t peer = -1;   // the rank that the sender expects; -1: any
    uint64_t token = 0;  // the random number of the accepting rank's listener
};
static_assert(sizeof(Hello) == 48, "a Hello has no padding on the wire");

Hello make_hello(Hello::Role role, const Cookie& cookie, int rank, int peer,
                 uint64_t token = 0);

/// Removes the Hello at the start of `bytes` and returns it; std::nullopt while it is
/// incomplete.
std::optional<Hello> take_hello(std::string& bytes);

/// Returns "" if `theirs` comes from the peer that `mine` expects and itself expects the
/// sender of `mine`; else what is wrong with `theirs`.
std::string hello_error(const Hello& theirs, const Hello& mine);

}  // namespace mini::dist
