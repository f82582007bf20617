// What image_file.cpp asks of a PNG or JPEG before it is decoded. See image_file.hpp.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::data {

// The next steps that messages about pictures end with.
constexpr const char* kReplaceImage = "get the file again, or take it out of the dataset";
constexpr const char* kConvertImage = "convert it to an ordinary PNG or JPEG";
constexpr const char* kShrinkImage = "scale the picture down";

/// Throws BadFile unless a picture of this size keeps to the caps of image_file.hpp.
void check_image_size(int64_t width, int64_t height, const std::string& name);

bool is_png(std::span<const uint8_t> bytes);
bool is_jpeg(std::span<const uint8_t> bytes);

/// Walks through a PNG and returns one with the same pixels that has nothing but what they
/// need: IHDR, a palette of all 256 colours (black beyond its own), one IDAT, IEND.
/// Checked: the length and CRC of every chunk, the header's values and caps, that the
/// pixel data unpack to exactly the header's size and to their check sum, that IEND comes.
/// Throws BadFile with the offset. REQUIRES: is_png(bytes).
std::vector<uint8_t> checked_png(std::span<const uint8_t> bytes, const std::string& name);

/// Walks through a JPEG and returns it up to its end mark. Checked: the length of every
/// segment, the frame's values and caps, that tables are possible and defined before a
/// scan uses them, that every component has a scan, that there are at most 100 of them,
/// that the end mark comes. Throws BadFile with the offset. REQUIRES: is_jpeg(bytes).
std::span<const uint8_t> checked_jpeg(std::span<const uint8_t> bytes,
                                      const std::string& name);

}  // namespace mini::data
