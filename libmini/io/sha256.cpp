#include "libmini/io/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "libmini/core/error.hpp"

namespace mini::io {

std::string sha256_hex(std::span<const std::byte> bytes) {
    std::array<unsigned char, 32> digest;
    const int result = EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr,
                                  EVP_sha256(), nullptr);
    MINI_CHECK(result == 1, "sha256: EVP_Digest failed");

    constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : digest) {
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

}  // namespace mini::io
