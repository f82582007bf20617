// The checks of a PNG or JPEG before image_file.cpp decodes it. See image_file.hpp.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::data {

// The next steps at the end of error messages about pictures.
constexpr const char* kReplaceImage = "get the file again, or take it out of the dataset";
constexpr const char* kConvertImage = "convert it to an ordinary PNG or JPEG";
constexpr const char* kShrinkImage = "scale the picture down";

/// Throws BadFile unless the size is within the limits of image_limits.hpp. `name` is the
/// picture's name in the error message.
void check_image_size(int64_t width, int64_t height, const std::string& name);

bool is_png(std::span<const uint8_t> bytes);
bool is_jpeg(std::span<const uint8_t> bytes);

/// Checks a PNG, and returns a PNG with the same pixels and only the necessary chunks:
/// IHDR, for colour type 3 a palette padded with black to 256 colours, one IDAT, and
/// IEND. Checks the length and CRC of every chunk, the header's values and limits, that
/// the pixel data unpack to exactly the header's size and match their checksum, and that
/// IEND is present. Throws BadFile, with the offset if known. REQUIRES: is_png(bytes).
std::vector<uint8_t> checked_png(std::span<const uint8_t> bytes, const std::string& name);

/// Checks a JPEG and returns its bytes up to the end marker. Checks the length of every
/// segment, the frame's values and limits, that tables are valid and defined before a
/// scan uses them, that every component has a scan, that there are at most 100 scans, and
/// that the end marker is present. Throws BadFile with the offset. REQUIRES:
/// is_jpeg(bytes).
std::span<const uint8_t> checked_jpeg(std::span<const uint8_t> bytes,
                                      const std::string& name);

}  // namespace mini::data
