#include "libmini/datasets/image_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/datasets/image_check.hpp"
#include "tests/datasets/images.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::Shape;
using mini::Tensor;
using mini::data::decode_image;
using mini::data::exif_orientation;
using mini::data::ImageMode;

namespace {

std::vector<uint8_t> pixels_of(const Bytes& file, ImageMode mode = ImageMode::kRgb) {
    return decode_image(file, "picture", mode).to_vector<uint8_t>();
}

// Returns value(x, y, channel) for each pixel of a picture, as (3, H, W).
template <typename Value>
std::vector<uint8_t> planes(const Picture& p, const Value& value) {
    std::vector<uint8_t> out;
    for (uint32_t c = 0; c < 3; ++c)
        for (uint32_t y = 0; y < p.height; ++y)
            for (uint32_t x = 0; x < p.width; ++x)
                out.push_back(static_cast<uint8_t>(value(x, y, c)));
    return out;
}

// Returns a function that hashes a position to a sample of `depth` bits. Samples take all
// values, so that an error in any filter is detected.
auto samples_of(uint8_t depth) {
    return [depth](uint32_t x, uint32_t y, uint32_t c) {
        return ((x * 7919 + y * 104729 + c * 1299709) * 2654435761u) >> (32 - depth);
    };
}

// Converts a sample to 8 bits: scales it to 0..255, or takes the upper 8 of 16 bits.
uint32_t as_byte(uint32_t sample, uint8_t depth) {
    return depth == 16 ? sample >> 8 : sample * 255 / ((1u << depth) - 1);
}

// Returns what a viewer shows of a picture, over white and in grey.
std::vector<uint8_t> shown(const Bytes& file) {
    return pixels_of(file, ImageMode::kGreyOverWhite);
}

// Returns PIL's "L" of planes (3, H, W).
std::vector<uint8_t> grey(const std::vector<uint8_t>& rgb) {
    const size_t plane = rgb.size() / 3;
    std::vector<uint8_t> out(plane);
    for (size_t i = 0; i < plane; ++i)
        out[i] = static_cast<uint8_t>((19595 * rgb[i] + 38470 * rgb[plane + i] +
                                       7471 * rgb[2 * plane + i] + 32768) >>
                                      16);
    return out;
}

std::string golden(const std::string& name) {
    return std::string(MINI_GOLDEN_DIR) + "/images/" + name;
}

// Returns EXIF data with an orientation.
Bytes exif(bool big_endian, uint8_t orientation) {
    if (big_endian)
        return {'M', 'M', 0, 42, 0,  0, 0, 8, 0, 2, 1, 0, 0,           3, 0, 0, 0, 1, 0,
                9,   0,   0, 1,  18, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0};
    return {'I', 'I', 42, 0, 8, 0,           0, 0, 1, 0, 18, 1, 3,
            0,   1,   0,  0, 0, orientation, 0, 0, 0, 0, 0,  0, 0};
}

Bytes jpeg_with_exif(const Bytes& data) {
    const Bytes jpeg = read_bytes(golden("baseline.jpg"));
    const Bytes typed = Bytes{'E', 'x', 'i', 'f', 0, 0} + data;
    const auto length = static_cast<uint8_t>(typed.size() + 2);
    return first(jpeg, 2) + Bytes{0xff, 0xe1, 0, length} + typed +
           Bytes(jpeg.begin() + 2, jpeg.end());
}

// Returns the largest difference of a JPEG to a PNG with the pixels that PIL reads.
int largest_difference(const Bytes& jpeg, const std::string& png) {
    const auto got = pixels_of(jpeg), expected = pixels_of(read_bytes(golden(png)));
    REQUIRE(got.size() == expected.size());
    int largest = 0;
    for (size_t i = 0; i < got.size(); ++i)
        largest = std::max(largest, std::abs(got[i] - expected[i]));
    return largest;
}

}  // namespace

TEST_CASE(
    "a PNG of every colour type and depth and filter and interlacing decodes exactly") {
    struct Kind {
        uint8_t colour, depth;
    };
    const Kind kind =
        GENERATE(Kind{0, 1}, Kind{0, 2}, Kind{0, 4}, Kind{0, 8}, Kind{0, 16}, Kind{2, 8},
                 Kind{2, 16}, Kind{4, 8}, Kind{4, 16}, Kind{6, 8}, Kind{6, 16});
    const bool interlaced = GENERATE(false, true);
    const auto [width, height] =
        GENERATE(std::pair(1u, 1u), std::pair(2u, 9u), std::pair(13u, 11u));
    CAPTURE(int{kind.colour}, int{kind.depth}, interlaced, width, height);
    const Picture p = {.width = width,
                       .height = height,
                       .depth = kind.depth,
                       .colour = kind.colour,
                       .sample = samples_of(kind.depth),
                       .interlaced = interlaced};

    const Tensor image = decode_image(png_of(p), "picture");
    REQUIRE(image.shape() == Shape{3, height, width});
    REQUIRE(image.dtype() == mini::DType::kUInt8);
    const bool grey = kind.colour == 0 || kind.colour == 4;
    REQUIRE(image.to_vector<uint8_t>() ==
            planes(p, [&](uint32_t x, uint32_t y, uint32_t c) {
                return as_byte(p.sample(x, y, grey ? 0 : c), kind.depth);
            }));
}

TEST_CASE("a PNG with a palette of any depth decodes exactly") {
    const uint8_t depth = GENERATE(uint8_t{1}, uint8_t{2}, uint8_t{4}, uint8_t{8});
    const bool interlaced = GENERATE(false, true);
    CAPTURE(int{depth}, interlaced);
    Picture p = {.width = 13,
                 .height = 11,
                 .depth = depth,
                 .colour = 3,
                 .sample = samples_of(depth),
                 .interlaced = interlaced,
                 .palette = ramp(size_t{3} << depth, 251)};
    for (uint8_t& value : p.palette) value = static_cast<uint8_t>(value + 40);
    const auto expected = planes(p, [&](uint32_t x, uint32_t y, uint32_t c) {
        return p.palette[p.sample(x, y, 0) * 3 + c];
    });
    CHECK(pixels_of(png_of(p)) == expected);

    // Transparency does not change a colour of the palette.
    p.transparency = {0};
    CHECK(pixels_of(png_of(p)) == expected);
}

TEST_CASE("a PNG's transparency is dropped like in PIL's convert RGB and not blended") {
    Picture p = {.sample = [](uint32_t, uint32_t, uint32_t c) { return 10 * c; }};
    const auto expected =
        planes(p, [](uint32_t, uint32_t, uint32_t c) { return 10 * c; });
    p.transparency = {0, 0, 0, 10, 0, 20};
    CHECK(pixels_of(png_of(p)) == expected);
    p.transparency = {};
    p.colour = 6;
    p.sample = [](uint32_t, uint32_t, uint32_t c) { return c == 3 ? 0 : 10 * c; };
    CHECK(pixels_of(png_of(p)) == expected);
    p.colour = 0;
    p.sample = [](uint32_t, uint32_t, uint32_t) { return 77; };
    p.transparency = {0, 77};
    CHECK(pixels_of(png_of(p)) == std::vector<uint8_t>(60, 77));
}

TEST_CASE("a PNG may have many IDAT chunks and optional chunks") {
    const Picture p = {.sample = samples_of(8)};
    Bytes file =
        kPngSignature + png_header(p) + chunk("tEXt", {'a', 0, 'b'}) + chunk("IDAT", {});
    for (const uint8_t byte : deflated(png_rows(p))) file = file + chunk("IDAT", {byte});
    file = file + chunk("prVt", ramp(9000, 256)) + chunk("IEND", {}) + Bytes{'m', 'o'};
    CHECK(pixels_of(file) == pixels_of(png_of(p)));
}

TEST_CASE("kGreyOverWhite is PIL's weighted sum and does not change grey pixels") {
    const auto grey = [](const Bytes& rgb) {
        const Tensor image =
            decode_image(plain_png(2, 3, rgb), "picture", ImageMode::kGreyOverWhite);
        CHECK(image.shape() == Shape{1, 3, 2});
        const auto values = image.to_vector<uint8_t>();
        CHECK(std::all_of(values.begin(), values.end(),
                          [&](uint8_t value) { return value == values[0]; }));
        return int{values[0]};
    };
    // The values of PIL's Image.new("RGB", ..., rgb).convert("L").
    CHECK(grey({255, 0, 0}) == 76);
    CHECK(grey({0, 255, 0}) == 150);
    CHECK(grey({0, 0, 255}) == 29);
    CHECK(grey({12, 200, 99}) == 132);
    for (const uint8_t value : {0, 1, 128, 254, 255})
        CHECK(grey({value, value, value}) == value);
}

TEST_CASE("a JPEG decodes to libjpeg's pixels up to rounding") {
    // Two decoders may round each step of the transform and of the colour conversion
    // differently, by up to 3 of 255 in all. They also interpolate subsampled colours
    // differently.
    const auto [name, tolerance] =
        GENERATE(std::pair("baseline", 3), std::pair("progressive", 3),
                 std::pair("grey", 1), std::pair("subsampled", 4));
    CAPTURE(name);
    const Bytes jpeg = read_bytes(golden(name + std::string(".jpg")));
    CHECK(decode_image(jpeg, name).shape() == Shape{3, 13, 19});
    CHECK(largest_difference(jpeg, name + std::string(".png")) <= tolerance);
    const auto got = pixels_of(jpeg);
    CHECK(got[0] != got[18]);  // not one colour
}

TEST_CASE("a JPEG of CMYK or YCCK has PIL's colours, and needs Adobe's marker") {
    // In addition to the rounding of other JPEGs: of the product of a colour and black.
    const Bytes cmyk = read_bytes(golden("cmyk.jpg"));
    CHECK(largest_difference(cmyk, "cmyk.png") <= 4);
    CHECK(largest_difference(read_bytes(golden("ycck.jpg")), "ycck.png") <= 4);

    const std::string text(cmyk.begin(), cmyk.end());
    const size_t marker = text.find("Adobe") - 4, end = marker + 16;
    REQUIRE(cmyk[marker + 1] == 0xee);
    const Bytes plain =
        first(cmyk, marker) +
        Bytes(cmyk.begin() + static_cast<std::ptrdiff_t>(end), cmyk.end());
    CHECK(contains(message_of<BadFile>([&] { pixels_of(plain); }),
                   "expected Adobe's marker in a picture in CMYK, found none"));
    Bytes unknown = cmyk;
    unknown[marker + 15] = 1;
    CHECK(contains(message_of<BadFile>([&] { pixels_of(unknown); }), "Adobe's marker"));
}

TEST_CASE("a viewer's picture has white in place of transparency") {
    const uint8_t alpha = GENERATE(uint8_t{0}, uint8_t{255}, uint8_t{100});
    const bool interlaced = GENERATE(false, true);
    CAPTURE(int{alpha}, interlaced);
    const auto blended = [&](int value) {
        return static_cast<uint8_t>(value * alpha / 255.0 + 255 - alpha + 0.5);
    };
    Picture p = {.colour = 6,
                 .sample =
                     [&](uint32_t x, uint32_t y, uint32_t c) {
                         return c == 3 ? alpha : (20 * x + 30 * y + 40 * c) % 256;
                     },
                 .interlaced = interlaced};
    CHECK(shown(png_of(p)) == grey(planes(p, [&](uint32_t x, uint32_t y, uint32_t c) {
              return blended(static_cast<int>((20 * x + 30 * y + 40 * c) % 256));
          })));
    p.colour = 4;  // grey and alpha
    p.sample = [&](uint32_t, uint32_t, uint32_t c) { return c == 1 ? alpha : 30; };
    CHECK(shown(png_of(p)) == std::vector<uint8_t>(20, blended(30)));
    p.depth = 16;
    p.sample = [&](uint32_t, uint32_t, uint32_t c) {
        return c == 1 ? alpha * 257 : 30 * 257;
    };
    CHECK(shown(png_of(p)) == std::vector<uint8_t>(20, blended(30)));

    // A palette whose colour 1 has this alpha; colour 2 has none, and is opaque.
    p.colour = 3;
    p.depth = GENERATE(uint8_t{2}, uint8_t{8});
    p.palette = {10, 20, 30, 40, 50, 60, 70, 80, 90};
    p.transparency = {255, alpha};
    p.sample = [](uint32_t x, uint32_t y, uint32_t) { return (x + y) % 3; };
    CHECK(shown(png_of(p)) == grey(planes(p, [&](uint32_t x, uint32_t y, uint32_t c) {
              const int value = p.palette[(x + y) % 3 * 3 + c];
              return (x + y) % 3 == 1 ? blended(value) : value;
          })));
}

TEST_CASE("a viewer's picture has white in place of a PNG's transparent colour") {
    const uint8_t depth =
        GENERATE(uint8_t{1}, uint8_t{2}, uint8_t{4}, uint8_t{8}, uint8_t{16});
    CAPTURE(int{depth});
    const uint32_t last = (1u << depth) - 1;
    Picture p = {
        .depth = depth,
        .colour = 0,
        .sample = [&](uint32_t x, uint32_t, uint32_t) { return x % 2 ? 0 : last; },
        .transparency = {0, 0}};
    CHECK(shown(png_of(p)) == std::vector<uint8_t>(20, 255));
    CHECK(pixels_of(png_of(p)) ==
          planes(p, [](uint32_t x, uint32_t, uint32_t) { return x % 2 ? 0 : 255; }));
    if (depth < 8) return;
    p.colour = 2;
    p.transparency = {0, 0, 0, 0, 0, 0};
    CHECK(shown(png_of(p)) == std::vector<uint8_t>(20, 255));
}

TEST_CASE("EXIF's orientation is read from a JPEG and a PNG, whole or damaged") {
    const bool big_endian = GENERATE(false, true), is_png = GENERATE(false, true);
    CAPTURE(big_endian, is_png);
    const auto orientation = [&](const Bytes& data) {
        return exif_orientation(is_png ? kPngSignature + chunk("eXIf", data)
                                       : jpeg_with_exif(data));
    };
    for (uint8_t value = 1; value <= 8; ++value)
        CHECK(orientation(exif(big_endian, value)) == value);
    for (const uint8_t value : {0, 9, 255})
        CHECK(orientation(exif(big_endian, value)) == 1);
    for (size_t length = 0; length < 20; ++length)
        CHECK(orientation(first(exif(big_endian, 6), length)) == 1);
    CHECK(orientation(Bytes(40, 255)) == 1);
    CHECK(exif_orientation(read_bytes(golden("baseline.jpg"))) == 1);
}

TEST_CASE("a photograph of 12 megapixels is read") {
    // Of one colour, so that the file is small.
    const Bytes file =
        png_with({.width = 4032, .height = 3024, .depth = 1, .colour = 0, .sample = {}},
                 deflated(Bytes(size_t{505} * 3024)));
    const Tensor image = decode_image(file, "photo", ImageMode::kGreyOverWhite);
    CHECK(image.shape() == Shape{1, 3024, 4032});
    CHECK(
        decode_image(
            png_with({.width = 20000, .height = 8, .depth = 1, .colour = 0, .sample = {}},
                     deflated(Bytes(size_t{2501} * 8))),
            "strip")
            .shape() == Shape{3, 8, 20000});
}

TEST_CASE("bytes after the end marker of a JPEG are ignored") {
    const Bytes file = read_bytes(golden("baseline.jpg"));
    CHECK(pixels_of(file + Bytes{0xff, 0xc4, 1, 2, 3}) == pixels_of(file));
}

TEST_CASE("several threads can decode concurrently", "[threads]") {
    const Bytes good = read_bytes(golden("progressive.jpg"));
    const Bytes damaged = png_with({.sample = samples_of(8)}, {1, 2, 3});
    const auto expected = pixels_of(good);
    std::vector<int> right(4);
    std::vector<std::thread> threads;
    for (int& count : right)
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                const bool rejected =
                    !message_of<BadFile>([&] { decode_image(damaged, "x"); }).empty();
                count += pixels_of(good) == expected && rejected;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == std::vector<int>(4, 50));
}

TEST_CASE("decode_image rejects files that are missing or too long") {
    const Folder folder;
    const auto message = [](const std::string& path) {
        const std::string text = message_of<BadFile>([&] { decode_image(path); });
        CHECK(text.find('\n') == std::string::npos);
        CHECK(text.rfind(path + ": ", 0) == 0);
        return text;
    };
    CHECK(contains(message(folder / "nothing.png"), "No such file"));

    // A sparse file: 1 TiB that takes no space on the disk.
    write_file(folder / "huge.png", kPngSignature);
    REQUIRE(::truncate((folder / "huge.png").c_str(), int64_t{1} << 40) == 0);
    CHECK(contains(message(folder / "huge.png"),
                   "expected at most 268435456 bytes, found 1099511627776"));
}
