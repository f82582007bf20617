// SHA-256 digests, computed with OpenSSL. Ranks compare the digests of their parameters
// to verify that all ranks have the same parameters.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace mini::io {

/// An incremental SHA-256 digest.
class Sha256 {
  public:
    /// Starts a digest. Throws Error when OpenSSL fails, as a FIPS build of OpenSSL may.
    Sha256();

    /// Adds bytes to the digest.
    void update(std::span<const std::byte> bytes);

    /// Returns the digest of all bytes so far as 64 hexadecimal digits, and starts a new
    /// digest.
    std::string finish_hex();

  private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    void start();

    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// Returns the digest of `bytes` as 64 hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace mini::io
