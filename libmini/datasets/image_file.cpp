#include "libmini/datasets/image_file.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/datasets/image_check.hpp"
#include "libmini/datasets/image_stb.hpp"
#include "libmini/io/file.hpp"

namespace mini::data {
namespace {

constexpr const char* kNameImage = "give the path of a PNG or JPEG";

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
