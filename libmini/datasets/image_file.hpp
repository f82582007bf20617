// Reading pictures: PNG and JPEG files as tensors of bytes.
//
//     file --> caps --> PNG: every chunk's CRC, the size and sum of the pixel data --> stb
//                       JPEG: every segment, its tables, the end mark             --> stb
//
// stb_image decodes well and trusts much, so that it gets a file only after we have
// walked through it ourselves, and works inside a fixed amount of memory. A file gives
// the whole picture or an error. One fault cannot be noticed: JPEG has no check sums, so
// that a byte that is wrong or missing among its pixels may give another picture.
//
// Cost: a PNG is unpacked twice. Memory: the file (twice for a PNG) and kMaxDecodeBytes,
// so that reading any file stays below 64 MiB.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "libmini/datasets/image_limits.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::data {

/// The channels that a picture is read into.
enum class ImageMode {
    kRgb,   // (3, H, W); grey pictures repeat their channel
    kGrey,  // (1, H, W); (19595 R + 38470 G + 7471 B + 32768) / 65536, as PIL's "L"
};

/// The picture in the file `path`, or in `bytes`, which messages call `name`: uint8
/// (3, H, W) or (1, H, W).
///
/// Reads PNGs of every colour type and depth, interlaced or not, and baseline and
/// progressive JPEGs of 8 bits. As PIL's convert("RGB") does it, transparency is dropped
/// and not blended, palettes and 1, 2 and 4 bits are spread to 0..255. Of 16 bits the
/// upper 8 stay (PIL does so too, but clips 16-bit grey at 255). What follows a picture's
/// end mark is ignored.
///
/// Throws BadFile, one line with file, what was expected, what was found, where (if it
/// has a place) and the next step: for what is no regular file, no PNG or JPEG by its
/// first bytes, larger than the caps above (before anything of that size is allocated),
/// damaged, cut short or contradictory. Safe to call from several threads at once.
Tensor decode_image(const std::string& path, ImageMode mode = ImageMode::kRgb);
Tensor decode_image(std::span<const uint8_t> bytes, const std::string& name,
                    ImageMode mode = ImageMode::kRgb);

}  // namespace mini::data
