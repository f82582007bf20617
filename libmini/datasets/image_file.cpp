#include "libmini/datasets/image_file.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/datasets/image_check.hpp"
#include "libmini/datasets/image_stb.hpp"
#include "libmini/datasets/regular_file.hpp"

namespace mini::data {
namespace {

using Span = std::span<const uint8_t>;

// Describes a file that is neither a PNG nor a JPEG, by its first bytes.
std::string describe(Span bytes) {
    struct Format {
        std::string_view begin, name;
    };
    constexpr Format kFormats[] = {{"GIF8", "a GIF"},
                                   {"BM", "a BMP"},
                                   {"RIFF", "a WebP or other RIFF"},
                                   {"II*", "a TIFF"},
                                   {"MM\0*", "a TIFF"},
                                   {"8BPS", "a Photoshop file"},
                                   {"%PDF", "a PDF"},
                                   {"<svg", "an SVG"},
                                   {"<?xml", "XML"},
                                   {"\x89PNG", "a PNG with a damaged signature"}};
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                bytes.size());
    for (const Format& format : kFormats)
        if (text.starts_with(format.begin)) return std::string(format.name);
    if (bytes.empty()) return "an empty file";
    std::string begin;
    for (const uint8_t byte : bytes.first(std::min<size_t>(bytes.size(), 4)))
        begin += concat(begin.empty() ? "" : " ", int{byte});
    return "a file that begins with the bytes " + begin;
}

// Converts (H, W, 3) to (3, H, W) or (1, H, W).
Tensor to_planes(const RgbPixels& pixels, ImageMode mode) {
    const int64_t plane = int64_t{pixels.width} * pixels.height;
    const bool grey = mode == ImageMode::kGrey;
    Tensor image = Tensor::empty({grey ? 1 : 3, pixels.height, pixels.width},
                                 DType::kUInt8, Device::cpu());
    uint8_t* out = image.data<uint8_t>();
    const uint8_t* rgb = pixels.bytes.data();
    for (int64_t i = 0; i < plane; ++i, rgb += 3) {
        if (grey) {
            out[i] = static_cast<uint8_t>(
                (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16);
        } else {
            for (int64_t c = 0; c < 3; ++c) out[c * plane + i] = rgb[c];
        }
    }
    return image;
}

Tensor decode_checked(Span file, const std::string& name, ImageMode mode) {
    const RgbPixels pixels = decode_with_stb(file, kMaxDecodeBytes);
    if (pixels.error.empty()) return to_planes(pixels, mode);
    if (pixels.needs_more)
        bad_file(name,
                 concat("a picture that decodes within ", kMaxDecodeBytes >> 20, " MiB"),
                 "one that needs more", kShrinkImage);
    bad_file(name, "a picture that stb_image can decode", pixels.error, kReplaceImage);
}

}  // namespace

void check_image_size(int64_t width, int64_t height, const std::string& name) {
    if (width < 1 || height < 1 || width > kMaxImageSide || height > kMaxImageSide ||
        width * height > kMaxImagePixels)
        bad_file(name,
                 concat("a picture of 1 to ", kMaxImageSide,
                        " pixels per side and at most ", kMaxImagePixels, " in all"),
                 concat(width, " x ", height),
                 width > 0 && height > 0 ? kShrinkImage : kReplaceImage);
}

Tensor decode_image(std::span<const uint8_t> bytes, const std::string& name,
                    ImageMode mode) {
    if (static_cast<int64_t>(bytes.size()) > kMaxImageFileBytes)
        bad_file(name, concat("at most ", kMaxImageFileBytes, " bytes"),
                 concat(bytes.size()), kShrinkImage);
    if (is_png(bytes)) return decode_checked(checked_png(bytes, name), name, mode);
    if (is_jpeg(bytes)) return decode_checked(checked_jpeg(bytes, name), name, mode);
    bad_file(name, "a PNG or JPEG", describe(bytes), kConvertImage);
}

Tensor decode_image(const std::string& path, ImageMode mode) {
    RegularFile file(path, {.name = "a PNG or JPEG", .next_step = kShrinkImage});
    const std::vector<uint8_t> bytes = file.read_all(kMaxImageFileBytes);
    return decode_image(bytes, path, mode);
}

}  // namespace mini::data
