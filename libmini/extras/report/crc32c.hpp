// CRC-32C: the checksum of TensorFlow's record files, iSCSI and ext4.
//
// The bits of the message are the coefficients of a polynomial over {0, 1}; the checksum
// is its remainder modulo the polynomial of Castagnoli, x^32 + x^28 + x^27 + ... + 1. A
// table of 256 remainders divides a byte at a time.

#pragma once

#include <cstdint>
#include <string_view>

namespace mini::report {

/// Returns the CRC-32C of `bytes`: 0xe3069283 for "123456789" (RFC 3720).
uint32_t crc32c(std::string_view bytes);

/// Returns the checksum as record files store it: rotated, and with a constant added.
/// Otherwise the checksum of data that contains its own checksum would be a constant.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace mini::report
