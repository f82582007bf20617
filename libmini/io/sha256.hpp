// SHA-256 digests, by OpenSSL: how ranks show that they hold the same parameters.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace mini::io {

/// A digest of bytes that come in pieces.
class Sha256 {
  public:
    /// Throws Error when OpenSSL refuses, as its FIPS builds may.
    Sha256();

    /// Appends bytes to what is digested.
    void update(std::span<const std::byte> bytes);

    /// The digest of all bytes so far, as 64 hexadecimal digits; the object can then
    /// be used again from the start.
    std::string finish_hex();

  private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    void start();

    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// The digest of `bytes` as 64 hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace mini::io
