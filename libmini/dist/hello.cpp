#include "libmini/dist/hello.hpp"

#include <charconv>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr std::array<char, 8> kMagic = {'l', 'i', 'b', 'm', 'i', 'n', 'i', '\n'};
constexpr uint32_t kVersion = 1;

// Takes the same time wherever the first difference is, so that timing tells a guesser
// nothing.
bool same_cookie(const Cookie& a, const Cookie& b) {
    std::byte difference{0};
    for (size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
    return difference == std::byte{0};
}

}  // namespace

Cookie parse_cookie(const std::string& hex_digits) {
    Cookie cookie{};
    bool good = hex_digits.size() == 2 * cookie.size();
    for (size_t i = 0; good && i < cookie.size(); ++i) {
        uint8_t value = 0;
        const char* digits = hex_digits.data() + 2 * i;
        const auto [end, code] = std::from_chars(digits, digits + 2, value, 16);
        good = code == std::errc() && end == digits + 2;
        cookie[i] = std::byte{value};
    }
    if (!good)
        throw UsageError(
            "MINI_STORE_COOKIE must be 32 hexadecimal digits, the same on all ranks");
    return cookie;
}

Hello make_hello(Hello::Purpose purpose, const Cookie& cookie, int rank, int world_size) {
    Hello hello;
    hello.magic = kMagic;
    hello.version = kVersion;
    hello.purpose = purpose;
    hello.cookie = cookie;
    hello.rank = rank;
    hello.world_size = world_size;
    return hello;
}

std::string fault_of(const Hello& hello, Hello::Purpose purpose, const Cookie& cookie) {
    if (hello.magic != kMagic) return "it does not speak libmini's protocol";
    if (hello.version != kVersion)
        return concat("it speaks version ", hello.version, " of the protocol, this is ",
                      kVersion);
    if (hello.purpose != purpose) return "it serves another purpose";
    if (!same_cookie(hello.cookie, cookie))
        return "its cookie is another run's; MINI_STORE_COOKIE must be the same on all "
               "ranks";
    return "";
}

}  // namespace mini::dist
