#include "libmini/datasets/image_file.hpp"

#include <algorithm>
#include <array>
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

// Blends the pixels over white, with 255 for opaque.
void blend_over_white(Pixels& pixels) {
    for (size_t i = 0; i < pixels.bytes.size(); i += 4) {
        const int alpha = pixels.bytes[i + 3];
        for (size_t c = i; c < i + 3; ++c)
            pixels.bytes[c] = static_cast<uint8_t>(
                (pixels.bytes[c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
}

// How to find a pixel of the shown picture in the stored one, for EXIF's orientation:
// exchange its row and column, then count them from the end.
struct Turn {
    explicit Turn(int orientation)
        : exchanges(orientation >= 5),
          from_bottom(orientation == 3 || orientation == 4 || orientation == 6 ||
                      orientation == 7),
          from_right(orientation == 2 || orientation == 3 || orientation == 7 ||
                     orientation == 8) {}
    bool exchanges, from_bottom, from_right;
};

// Writes one pixel of the planes, which have `plane` bytes.
void write_pixel(uint8_t* out, const uint8_t* rgb, ImageMode mode, int64_t plane) {
    if (mode == ImageMode::kGrey)
        *out = static_cast<uint8_t>(
            (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16);
    else
        for (int64_t c = 0; c < 3; ++c) out[c * plane] = rgb[c];
}

// Converts (H, W, channels) to (3, H, W) or (1, H, W), or turned to (3, W, H).
Tensor to_planes(const Pixels& pixels, ImageMode mode, const Turn& turn) {
    const int64_t height = pixels.height, width = pixels.width;
    const int64_t rows = turn.exchanges ? width : height;
    const int64_t columns = turn.exchanges ? height : width;
    const int64_t planes = mode == ImageMode::kGrey ? 1 : 3;
    Tensor image = Tensor::empty({planes, rows, columns}, DType::kUInt8, Device::cpu());
    uint8_t* out = image.data<uint8_t>();
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
            int64_t row = turn.exchanges ? j : i, column = turn.exchanges ? i : j;
            if (turn.from_bottom) row = height - 1 - row;
            if (turn.from_right) column = width - 1 - column;
            write_pixel(out++,
                        pixels.bytes.data() + (row * width + column) * pixels.channels,
                        mode, height * width);
        }
    return image;
}

// Returns the pixels, with 3 or 4 channels.
Pixels decode(const CheckedImage& image, int channels, const std::string& name) {
    Pixels pixels = decode_with_stb(image.file, channels, kMaxDecodeBytes);
    if (pixels.error.empty()) return pixels;
    if (pixels.needs_more)
        bad_file(name,
                 concat("a picture that decodes within ", kMaxDecodeBytes >> 20, " MiB"),
                 concat("one that needs more, of ", image.width, " x ", image.height),
                 kShrinkImage);
    bad_file(name, "a picture that stb_image can decode", pixels.error, kReplaceImage);
}

CheckedImage checked(Span bytes, const std::string& name) {
    if (static_cast<int64_t>(bytes.size()) > kMaxImageFileBytes)
        bad_file(name, concat("at most ", kMaxImageFileBytes, " bytes"),
                 concat(bytes.size()), kShrinkImage);
    if (is_png(bytes)) return checked_png(bytes, name);
    if (is_jpeg(bytes)) return checked_jpeg(bytes, name);
    bad_file(name, "a PNG or JPEG", describe(bytes), kConvertImage);
}

std::vector<uint8_t> read_picture(const std::string& path) {
    RegularFile file(path, {.name = "a PNG or JPEG", .next_step = kShrinkImage});
    return file.read_all(kMaxImageFileBytes);
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
    return to_planes(decode(checked(bytes, name), 3, name), mode, Turn(1));
}

Tensor decode_image(const std::string& path, ImageMode mode) {
    return decode_image(read_picture(path), path, mode);
}

void check_image_format(const std::string& path) {
    RegularFile file(path, {.name = "a PNG or JPEG", .next_step = kConvertImage});
    std::array<uint8_t, 8> begin{};
    const Span bytes = Span(begin).first(file.read(begin));
    if (!is_png(bytes) && !is_jpeg(bytes))
        bad_file(path, "a PNG or JPEG", describe(bytes), kConvertImage);
}

ShownImage decode_shown_image(std::span<const uint8_t> bytes, const std::string& name,
                              ImageMode mode) {
    const CheckedImage image = checked(bytes, name);
    Pixels pixels = decode(image, 4, name);
    blend_over_white(pixels);
    return {.pixels = to_planes(pixels, mode, Turn(image.orientation)),
            .orientation = image.orientation};
}

ShownImage decode_shown_image(const std::string& path, ImageMode mode) {
    return decode_shown_image(read_picture(path), path, mode);
}

}  // namespace mini::data
