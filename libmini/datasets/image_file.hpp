// Reading pictures: PNG and JPEG files as tensors of bytes.
//
//     file --> limits --> PNG: all CRCs, size and checksum of the pixel data --> stb
//                         JPEG: all segments, the tables, the end marker     --> stb
//
// stb_image decodes well but checks little, so we check each file before we pass it to
// stb_image, and limit its memory. The result is the whole picture or an error. One fault
// cannot be detected: JPEG has no checksums, so a wrong or missing byte in its pixel data
// may give a different picture.
//
// Cost: a PNG is unpacked twice. Memory: the file twice, and for each pixel 6 bytes, or
// up to 16 for a progressive JPEG and 32 for a PNG of 16 bits; at most kMaxDecodeBytes.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "libmini/datasets/image_limits.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::data {

/// The channels of the decoded picture.
enum class ImageMode {
    kRgb,   // (3, H, W); grey pictures repeat their channel
    kGrey,  // (1, H, W); (19595 R + 38470 G + 7471 B + 32768) / 65536, as PIL's "L"
};

/// Decodes the picture in the file `path`: uint8 (3, H, W) or (1, H, W).
///
/// Reads PNGs of every colour type and depth, interlaced or not, and baseline and
/// progressive JPEGs of 8 bits, grey, RGB, CMYK and YCCK. As in PIL's convert("RGB"),
/// which torchvision's ImageFolder calls, transparency is dropped and not blended, and
/// EXIF's orientation is ignored. Palettes and samples of 1, 2 and 4 bits are expanded to
/// 0..255. Of a 16-bit sample, the upper 8 bits are kept (as in PIL, but PIL clips 16-bit
/// grey at 255). The pixels of a JPEG differ from PIL's by up to 5 of 255, because
/// libjpeg rounds differently, and by more in the last column if its colours are
/// subsampled only horizontally. Bytes after the picture's end marker are
/// ignored.
///
/// Throws BadFile for a file that is not a regular file, is not a PNG or JPEG by its
/// first bytes, exceeds the limits of image_limits.hpp (checked before memory of that
/// size is allocated), or is damaged, truncated or inconsistent. The error message is one
/// line with the file, what was expected, what was found, the offset (if known) and the
/// next step. Thread-safe.
Tensor decode_image(const std::string& path, ImageMode mode = ImageMode::kRgb);

/// Decodes the picture in `bytes` in the same way; error messages have this `name`.
Tensor decode_image(std::span<const uint8_t> bytes, const std::string& name,
                    ImageMode mode = ImageMode::kRgb);

/// Throws BadFile unless the first bytes of the file are those of a PNG or JPEG.
void check_image_format(const std::string& path);

/// A picture as a viewer shows it.
struct ShownImage {
    Tensor pixels;        // uint8 (3, H, W) or (1, H, W)
    int orientation = 1;  // EXIF's, 1 to 8, by which the pixels have been turned
};

/// Decodes a picture as a viewer shows it: blends transparency over white, and turns the
/// picture as EXIF's orientation says (PIL's ImageOps.exif_transpose). Otherwise as
/// decode_image.
ShownImage decode_shown_image(const std::string& path, ImageMode mode = ImageMode::kRgb);
ShownImage decode_shown_image(std::span<const uint8_t> bytes, const std::string& name,
                              ImageMode mode = ImageMode::kRgb);

}  // namespace mini::data
