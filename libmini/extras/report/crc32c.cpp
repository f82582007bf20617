#include "libmini/extras/report/crc32c.hpp"

#include <array>
#include <bit>

namespace mini::report {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // of Castagnoli, lowest power first
constexpr uint32_t kMaskDelta = 0xa282ead8;

// Returns the remainders of the 256 bytes.
constexpr std::array<uint32_t, 256> make_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < table.size(); ++byte) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit)
            remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kPolynomial : 0);
        table[byte] = remainder;
    }
    return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
    uint32_t crc = ~uint32_t{0};
    for (const char byte : bytes)
        crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
    return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
    return std::rotr(crc32c(bytes), 15) + kMaskDelta;
}

}  // namespace mini::report
