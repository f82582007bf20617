#include "libmini/io/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <array>

#include "libmini/core/error.hpp"

namespace mini::io {

std::string sha256_hex(std::span<const std::byte> bytes) {
    std::array<unsigned char, 32> digest;
    const int result = EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr,
                                  EVP_sha256(), nullptr);
    MINI_CHECK(result == 1, "sha256: EVP_Digest failed");
    return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace mini::io
