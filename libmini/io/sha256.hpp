// SHA-256 digests, computed with OpenSSL. Ranks compare the digests of their parameters
// to verify that all ranks have the same parameters.

#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mini::io {

/// Returns the digest of `bytes` as 64 hexadecimal digits. Throws Error when OpenSSL
/// fails, as a FIPS build of OpenSSL may.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace mini::io
