#include "libmini/datasets/image_file.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/datasets/image_check.hpp"
#include "libmini/datasets/image_stb.hpp"
#include "libmini/io/file.hpp"

namespace mini::data {
namespace {

constexpr const char* kNameImage = "give the path of a PNG or JPEG";

// Returns the TIFF file in a picture; empty if there is none.
std::string_view exif_of(std::string_view picture) {
    using namespace std::string_view_literals;
    for (const std::string_view name : {"Exif\0\0"sv, "eXIf"sv})
        if (const size_t at = picture.find(name); at != std::string_view::npos)
            return picture.substr(at + name.size());
    return {};
}

// Returns a number in the byte order of the TIFF file; 0 beyond its end.
size_t number(std::string_view tiff, size_t offset, size_t bytes) {
    if (offset > tiff.size() || bytes > tiff.size() - offset) return 0;
    const bool is_big_endian = tiff[0] == 'M';
    size_t result = 0;
    for (size_t i = 0; i < bytes; ++i)
        result = result << 8 |
                 static_cast<uint8_t>(tiff[offset + (is_big_endian ? i : bytes - 1 - i)]);
    return result;
}

// Blends a value over white, with alpha 255 for opaque.
int over_white(int value, int alpha) {
    return (value * alpha + 255 * (255 - alpha) + 127) / 255;
}

uint8_t grey_over_white(const uint8_t* rgba) {
    const int red = over_white(rgba[0], rgba[3]), green = over_white(rgba[1], rgba[3]),
              blue = over_white(rgba[2], rgba[3]);
    return static_cast<uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >>
                                16);
}

}  // namespace

// EXIF data are a TIFF file:
//
//     "II" or "MM"   42    offset    ..   count   tag    type   count   value   ..
//     byte order     (2)   (4)            (2)     (2)    (2)    (4)     (4)     more ..
//     at 0                                at the offset
//
// They follow the text "Exif", 0, 0 in a JPEG, and the chunk type "eXIf" in a PNG. The
// orientation has tag 0x0112 and the values 1 to 8.
int exif_orientation(std::span<const uint8_t> picture) {
    constexpr size_t kEntryBytes = 12, kOrientation = 0x0112;
    const std::string_view tiff =
        exif_of({reinterpret_cast<const char*>(picture.data()), picture.size()});
    const size_t directory = number(tiff, 4, 4);
    const size_t entries = number(tiff, directory, 2);
    for (size_t entry = directory + 2; entry < directory + 2 + entries * kEntryBytes;
         entry += kEntryBytes) {
        const size_t value = number(tiff, entry + 8, 2);
        if (number(tiff, entry, 2) == kOrientation && value >= 1 && value <= 8)
            return static_cast<int>(value);
    }
    return 1;
}

Tensor decode_image(std::span<const uint8_t> bytes, const std::string& name,
                    ImageMode mode) {
    const Pixels pixels = decode_with_stb(checked_image(bytes, name), name);
    const int orientation = exif_orientation(bytes);
    if (mode == ImageMode::kGreyOverWhite && orientation != 1)
        logging::warning(name, ": its EXIF orientation is ", orientation,
                         ": a viewer turns it, but here it is read as it is stored");
    const int64_t plane = int64_t{pixels.height} * pixels.width;
    const int64_t planes = mode == ImageMode::kRgb ? 3 : 1;
    Tensor image = Tensor::empty({planes, pixels.height, pixels.width}, DType::kUInt8,
                                 Device::cpu());
    auto* const out = image.data<uint8_t>();
    for (int64_t i = 0; i < plane; ++i) {
        const uint8_t* rgba = pixels.rgba.get() + 4 * i;
        if (mode == ImageMode::kRgb)
            for (int64_t c = 0; c < 3; ++c) out[c * plane + i] = rgba[c];
        else
            out[i] = grey_over_white(rgba);
    }
    return image;
}

Tensor decode_image(const std::string& path, ImageMode mode) {
    const io::InputFile file(path, kNameImage);
    return decode_image(file.read_all(kMaxImageFileBytes, kShrinkImage), path, mode);
}

void check_image_format(const std::string& path) {
    const io::InputFile file(path, kNameImage);
    std::vector<uint8_t> begin(std::min<size_t>(file.size(), 8));
    file.read(0, std::as_writable_bytes(std::span(begin)));
    check_image_format(begin, path);
}

}  // namespace mini::data
