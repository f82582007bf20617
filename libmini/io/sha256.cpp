#include "libmini/io/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "libmini/core/error.hpp"

namespace mini::io {
namespace {

constexpr size_t kDigestBytes = 32;

void check_openssl(int result, const char* call) {
    MINI_CHECK(result == 1, "sha256: ", call, " failed");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
    MINI_CHECK(context_ != nullptr, "sha256: EVP_MD_CTX_new failed");
    start();
}

void Sha256::start() {
    check_openssl(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr),
                  "EVP_DigestInit_ex");
}

void Sha256::update(std::span<const std::byte> bytes) {
    check_openssl(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()),
                  "EVP_DigestUpdate");
}

std::string Sha256::finish_hex() {
    std::array<unsigned char, kDigestBytes> digest;
    check_openssl(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr),
                  "EVP_DigestFinal_ex");
    start();

    constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : digest) {
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
    Sha256 digest;
    digest.update(bytes);
    return digest.finish_hex();
}

}  // namespace mini::io
