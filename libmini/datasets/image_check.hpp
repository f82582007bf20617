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

/// A picture whose checks have passed.
struct CheckedImage {
    std::vector<uint8_t> file;  // for decode_with_stb
    int64_t width = 0, height = 0;
    int orientation = 1;  // of EXIF, 1 to 8: how to turn the pixels to show the picture
};

/// Returns the orientation in the data of a JPEG's segment FF E1 or of a PNG's chunk
/// eXIf, from 1 to 8; 1 if there is none, or if the data are damaged.
int exif_orientation(std::span<const uint8_t> data);

/// Checks a PNG, and returns a PNG with the same pixels and only the necessary chunks:
/// IHDR, for colour type 3 a palette padded with black to 256 colours, tRNS if it is
/// valid, one IDAT, and IEND. Checks the length and CRC of every chunk, the header's
/// values and limits, that the pixel data unpack to exactly the header's size and match
/// their checksum, and that IEND is present. Throws BadFile, with the offset if known.
/// REQUIRES: is_png(bytes).
CheckedImage checked_png(std::span<const uint8_t> bytes, const std::string& name);

/// Checks a JPEG and returns its bytes up to the end marker; a JPEG of four components
/// gets a marker that says whether they are CMYK or YCCK, as libjpeg decides. Checks the
/// length of every segment, the frame's values and limits, that tables are valid and
/// defined before a scan uses them, that every component has a scan, that there are at
/// most 100 scans, that the file is not far too short for its size, and that the end
/// marker is present. Throws BadFile with the offset. REQUIRES: is_jpeg(bytes).
CheckedImage checked_jpeg(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace mini::data
