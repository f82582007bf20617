// The first bytes on every connection, in both directions: the sender, the peer it
// expects, and proof that it belongs to this run. Anything else that connects to one of
// our ports, or answers there (a scanner, a browser, an echo, a rank of another run), is
// recognised by its first 48 bytes and dropped.
//
//     connects        role kStoreClient, expects rank 0        kMeshConnector, rank, peer
//     accepts         role kStoreServer, rank 0                kMeshAcceptor, rank, peer
//
// The cookie keeps other runs and other programs out. It does not encrypt: it can be read
// on the wire.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace mini::dist {

/// 16 random bytes that all ranks of a run know; all zero when none was chosen.
using Cookie = std::array<std::byte, 16>;

/// From 32 hexadecimal digits. Throws UsageError for anything else.
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
    int32_t rank = -1;   // of the speaker; -1 where it does not matter
    int32_t peer = -1;   // the rank that the speaker expects; -1 for any
    uint64_t token = 0;  // the random number of the accepting rank's listener
};
static_assert(sizeof(Hello) == 48, "what travels has no holes");

Hello make_hello(Hello::Role role, const Cookie& cookie, int rank, int peer,
                 uint64_t token = 0);

/// Takes the Hello that `bytes` begin with off them; nothing while it is not whole.
std::optional<Hello> take_hello(std::string& bytes);

/// "" when `theirs` comes from the other end that `mine` expects, and expects this one;
/// else what is wrong with it.
std::string fault_of(const Hello& theirs, const Hello& mine);

}  // namespace mini::dist
