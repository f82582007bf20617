// Reading pictures: PNG and JPEG files as tensors of bytes.
//
//     file --> limits, segments of a JPEG (image_check.hpp) --> stb_image --> planes
//
// The result is a whole picture or an error, but not all damage can be detected:
// stb_image skips the checksums of PNG, and JPEG has none. A wrong byte in the pixel data
// may give a different picture.
//
// Memory: the file, and for each pixel up to 16 bytes, or 32 for a PNG of 16 bits.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "libmini/tensor/tensor.hpp"

namespace mini::data {

/// What is decoded from a picture: the shape of the tensor, and how colours become it.
enum class ImageMode {
    // (3, H, W), as PIL's convert("RGB"), which torchvision's ImageFolder calls: grey
    // pictures repeat their channel, and transparency is dropped and not blended.
    kRgb,

    // (1, H, W), as a viewer shows the picture: transparency is blended over white. Then
    // (19595 R + 38470 G + 7471 B + 32768) / 65536, as PIL's "L".
    kGreyOverWhite,
};

/// Decodes the picture in the file `path`: uint8 (3, H, W) or (1, H, W).
///
/// Reads PNGs of every colour type and depth, interlaced or not, and baseline and
/// progressive JPEGs of 8 bits, grey, RGB, and with Adobe's marker CMYK and YCCK. As in
/// PIL, EXIF's orientation is ignored. Palettes and samples of 1, 2 and 4 bits are
/// expanded to 0..255. Of a 16-bit sample, the upper 8 bits are kept (as in PIL, but PIL
/// clips 16-bit grey at 255). The pixels of a JPEG differ from PIL's by up to 5 of 255,
/// because libjpeg rounds differently, and by more in the last column if its colours are
/// subsampled only horizontally. Bytes after the picture's end marker are ignored.
///
/// Throws BadFile for a file that is not a regular file, is not a PNG or JPEG by its
/// first bytes, exceeds the limits of image_check.hpp (checked before memory of that
/// size is allocated), or is found to be damaged or truncated. The error message is one
/// line with the file, what was expected, what was found and the next step. Thread-safe.
Tensor decode_image(const std::string& path, ImageMode mode = ImageMode::kRgb);

/// Decodes the picture in `bytes` in the same way; error messages have this `name`.
Tensor decode_image(std::span<const uint8_t> bytes, const std::string& name,
                    ImageMode mode = ImageMode::kRgb);

/// Throws BadFile unless the first bytes of the file are those of a PNG or JPEG.
void check_image_format(const std::string& path);

}  // namespace mini::data
