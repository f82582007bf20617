// The first bytes on every connection, in both directions: who speaks, and proof that it
// belongs to this run. Anything else that connects to one of our ports (a scanner, a
// browser, a rank of another run) is recognised by its first 48 bytes and dropped.
//
// The cookie keeps runs and strangers apart. It is no encryption: whoever reads the wire
// reads it.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mini::dist {

/// 16 random bytes that all ranks of a run know; all zero when nobody chose any.
using Cookie = std::array<std::byte, 16>;

/// From 32 hexadecimal digits. Throws UsageError for anything else.
Cookie parse_cookie(const std::string& hex_digits);

struct Hello {
    enum class Purpose : uint32_t { kStore = 1, kMesh = 2 };

    std::array<char, 8> magic{};
    uint32_t version = 0;
    Purpose purpose = Purpose::kStore;
    Cookie cookie{};
    int32_t rank = -1;  // of the speaker, where it matters
    int32_t world_size = -1;
    uint64_t reserved = 0;
};
static_assert(sizeof(Hello) == 48, "what travels has no holes");

Hello make_hello(Hello::Purpose purpose, const Cookie& cookie, int rank, int world_size);

/// "" when `hello` is of our protocol, purpose and run; else what is wrong with it.
std::string fault_of(const Hello& hello, Hello::Purpose purpose, const Cookie& cookie);

}  // namespace mini::dist
