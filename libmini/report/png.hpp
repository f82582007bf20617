// PNG images: a signature, and chunks of a length, a name, data and a CRC-32.
//
//     IHDR    width, height, 8 bits a sample, grey (0) or RGB (2)
//     IDAT    the rows, compressed with zlib; before each row a 0: no filter
//     IEND    empty

#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mini::report {

/// The size of a picture, in pixels, and the bytes of a pixel.
struct PngSize {
    int64_t width = 0;
    int64_t height = 0;
    int64_t channels = 1;  // 1: grey, 3: RGB
};

/// Returns the file of an image (H, W, C). Throws ShapeError unless there is one byte for
/// each sample, and 1 or 3 channels.
std::string png_of(const PngSize& size, std::span<const uint8_t> bytes);

/// Returns "data:image/png;base64,...", an image for an attribute `src` of HTML.
std::string data_url(const std::string& png);

}  // namespace mini::report
