// The checks of a PNG or JPEG before stb_image decodes it. stb_image finds most damage
// itself. We check what it is unsafe or slow on, and what it decodes wrongly:
//
//     size                   its limits, and enough bytes for so many pixels
//     JPEG, Huffman tables   at most 256 values: stb_image writes all that are there
//     JPEG, all tables       present: without them, stb_image decodes a grey picture
//     JPEG, scans            at most 100: each passes over the whole picture
//     JPEG, CMYK             needs Adobe's marker: without it, stb_image guesses
//     end                    present: stb_image reads zeros after the end of the file

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mini::data {

/// decode_image throws BadFile for a picture above one of these limits. Photographs of
/// 64 megapixels (9248 x 6936) are within them.
constexpr int64_t kMaxImageFileBytes = int64_t{256} << 20;
constexpr int64_t kMaxImageSide = 65535;                // pixels; the limit of JPEG
constexpr int64_t kMaxImagePixels = int64_t{64} << 20;  // 8192 x 8192

// The next steps at the end of error messages about pictures.
constexpr const char* kReplaceImage = "get the file again, or take it out of the dataset";
constexpr const char* kConvertImage = "convert it to an ordinary PNG or JPEG";
constexpr const char* kShrinkImage = "scale the picture down";

/// Throws BadFile unless these first bytes of a file are those of a PNG or JPEG. `name`
/// is the picture's name in the error message.
void check_image_format(std::span<const uint8_t> begin, const std::string& name);

/// Returns the bytes that stb_image can decode safely: the whole PNG, or the JPEG up to
/// its end marker. Throws BadFile if a check above fails.
std::span<const uint8_t> checked_image(std::span<const uint8_t> bytes,
                                       const std::string& name);

/// Returns how a viewer turns the picture: EXIF's orientation, from 1 to 8; 1, as stored,
/// if the bytes have none, or if it is damaged.
int exif_orientation(std::span<const uint8_t> picture);

}  // namespace mini::data
