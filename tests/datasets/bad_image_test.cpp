#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/datasets/image_file.hpp"
#include "tests/datasets/damage.hpp"
#include "tests/datasets/images.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::data::decode_image;

namespace {

// Returns the error message of decode_image, or "" if it accepts the bytes. Checks that
// the message is one line with the file, the expected and the found value, and the next
// step.
std::string image_error(const Bytes& file) {
    const std::string message =
        message_of<BadFile>([&] { decode_image(file, "some/picture"); });
    if (message.empty()) return "";
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.rfind("some/picture: expected ", 0) == 0);
    CHECK(contains(message, ", found "));
    CHECK(contains(message, "; "));
    return message;
}

Picture picture() {
    return {.sample = [](uint32_t x, uint32_t y, uint32_t c) {
        return (x * 50 + y * 60 + c * 70) % 256;
    }};
}

Bytes golden_jpeg(const std::string& name = "baseline") {
    return read_bytes(std::string(MINI_GOLDEN_DIR) + "/images/" + name + ".jpg");
}

// Returns the offset of a JPEG's segment FF `marker`.
size_t segment(const Bytes& jpeg, uint8_t marker) {
    for (size_t i = 0; i + 1 < jpeg.size(); ++i)
        if (jpeg[i] == 0xff && jpeg[i + 1] == marker) return i;
    throw std::runtime_error("no such segment");
}

Bytes without_segment(const Bytes& jpeg, uint8_t marker) {
    const size_t begin = segment(jpeg, marker);
    const size_t length = 2 + size_t{jpeg[begin + 2]} * 256 + jpeg[begin + 3];
    Bytes out = first(jpeg, begin);
    out.insert(out.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(begin + length),
               jpeg.end());
    return out;
}

}  // namespace

TEST_CASE(
    "a file that is not a PNG or JPEG is rejected by its first bytes and not by its "
    "name") {
    const Folder folder;
    const auto message = [&](const Bytes& bytes) {
        write_file(folder / "a.png", bytes);
        return message_of<BadFile>([&] { decode_image(folder / "a.png"); });
    };
    CHECK(contains(message({'G', 'I', 'F', '8', '9', 'a', 1, 0}),
                   "expected a PNG or JPEG, found a GIF; convert it"));
    CHECK(contains(message({'B', 'M', 1, 2, 3, 4}), "found a BMP"));
    CHECK(contains(message({'P', '6', '\n', '1'}),
                   "found a file that begins with the bytes 80 54 10 49"));
    CHECK(contains(message({}), "found an empty file"));
    CHECK(contains(message({0xff}), "begins with the bytes 255"));
    CHECK(contains(message({0x89, 'P', 'N', 'G', 10, 26, 10, 0}),
                   "found a PNG with a damaged signature"));
}

TEST_CASE("a PNG truncated at any byte before its end chunk is rejected") {
    const Bytes file = png_of(picture());
    const size_t checksum = 4;  // of the end chunk
    for (size_t length = 0; length < file.size() - checksum; ++length) {
        CAPTURE(length);
        REQUIRE(image_error(first(file, length)) != "");
    }
    CHECK(contains(image_error(first(file, file.size() - 12)),
                   "expected the PNG chunk IEND, found the end of the file"));
}

TEST_CASE("a PNG chunk that is longer than the file is rejected") {
    Bytes file = png_of(picture());
    for (const uint8_t high : {0x00, 0x7f, 0xff}) {
        file[33] = high, file[34] = 1;
        CHECK(image_error(file) != "");
        CHECK(peak_growth_mib([&] { decode_image(file, "picture"); }) < 16);
    }
}

TEST_CASE("PNG pixel data that do not match the header are rejected") {
    const Picture p = picture();
    const Bytes rows = png_rows(p), packed = deflated(rows);
    REQUIRE(rows.size() == 64);
    const auto error = [](const Bytes& file) {
        const std::string message = image_error(file);
        CHECK(contains(message, "expected a picture that stb_image can decode, found"));
    };
    SECTION("too few bytes") { error(png_with(p, deflated(first(rows, 63)))); }
    SECTION("a truncated zlib stream") {
        const size_t checksum = 4;
        for (size_t length = 0; length + checksum < packed.size(); ++length)
            error(png_with(p, first(packed, length)));
    }
    SECTION("no zlib stream") { error(png_with(p, {1, 2, 3})); }
    SECTION("a filter that does not exist") {
        Bytes wrong = rows;
        wrong[16] = 5;
        error(png_with(p, deflated(wrong)));
    }
    SECTION("another size in the header") {
        Picture lie = p;
        lie.height = 5;
        error(png_with(lie, packed));
    }
    SECTION("no pixels at all") {
        error(kPngSignature + png_header(p) + chunk("IEND", {}));
    }
}

TEST_CASE("an invalid PNG header or palette is rejected") {
    const Picture good = picture();
    const Bytes packed = deflated(png_rows(good)), end = chunk("IEND", {});
    Picture p = good;
    const auto error = [](const Bytes& file) { CHECK(image_error(file) != ""); };
    SECTION("no width") {
        p.width = 0;
        CHECK(contains(image_error(png_with(p, packed)), "found 0 x 4"));
    }
    SECTION("no height") {
        p.height = 0;
        CHECK(contains(image_error(png_with(p, packed)), "found 5 x 0"));
    }
    SECTION("a depth that the colour type does not have") {
        p.depth = GENERATE(uint8_t{0}, uint8_t{1}, uint8_t{3}, uint8_t{4}, uint8_t{255});
        error(png_with(p, packed));
    }
    SECTION("a colour type that does not exist") {
        const uint8_t colour = GENERATE(uint8_t{1}, uint8_t{5}, uint8_t{7}, uint8_t{255});
        const Bytes header = {0, 0, 0, 5, 0, 0, 0, 4, 8, colour, 0, 0, 0};
        error(kPngSignature + chunk("IHDR", header) + chunk("IDAT", packed) + end);
    }
    SECTION("unknown compression or filter or interlacing") {
        for (size_t i = 10; i < 13; ++i) {
            Bytes header = {0, 0, 0, 5, 0, 0, 0, 4, 8, 2, 0, 0, 0};
            header[i] = 2;
            error(kPngSignature + chunk("IHDR", header) + chunk("IDAT", packed) + end);
        }
    }
    SECTION("a header of a wrong length or a second header or no header at first") {
        const Bytes rest = chunk("IDAT", packed) + end;
        error(kPngSignature + chunk("IHDR", {1, 2}) + rest);
        CHECK(contains(image_error(kPngSignature + rest),
                       "expected the PNG chunk IHDR first"));
        error(kPngSignature + png_header(p) + png_header(p) + rest);
    }
    SECTION("a palette that is missing or of a wrong size") {
        p.colour = 3;
        error(png_with(p, packed));
        const Bytes begin = kPngSignature + png_header(p);
        error(begin + chunk("PLTE", {1, 2}) + end);
        error(begin + chunk("PLTE", ramp(771, 9)) + end);
    }
    SECTION("an unknown chunk that is not optional") {
        error(kPngSignature + png_header(p) + chunk("WHAT", {}) + end);
        error(kPngSignature + png_header(p) + chunk("W\nAT", {}) + end);
    }
}

TEST_CASE(
    "a picture that is too large is rejected by its header before memory is allocated") {
    Picture p = picture();
    p.width = p.height = 60000;
    const Bytes file = png_with(p, deflated({}));
    CHECK(contains(image_error(file), "found 60000 x 60000; scale the picture down"));
    CHECK(peak_growth_mib([&] { decode_image(file, "picture"); }) < 16);
    p.width = p.height = 0xffffffff;
    CHECK(contains(image_error(png_with(p, {})), "found 4294967295 x 4294967295"));
    p.width = 65536, p.height = 1;
    CHECK(contains(image_error(png_with(p, {})), "found 65536 x 1"));
    p.width = 8193, p.height = 8192;
    CHECK(contains(image_error(png_with(p, {})),
                   "at most 67108864 in all, found 8193 x 8192; scale the picture down"));

    Bytes jpeg = golden_jpeg();
    const size_t frame = segment(jpeg, 0xc0);
    for (size_t i = 5; i < 9; ++i) jpeg[frame + i] = 0xea;  // 0xeaea = 60138
    CHECK(contains(image_error(jpeg), "found 60138 x 60138"));
}

TEST_CASE("a picture that is too short for its size is rejected early") {
    Picture p = picture();
    p.width = p.height = 8192;
    const Bytes png = png_with(p, deflated({}));
    CHECK(
        contains(image_error(png), "expected at least one byte for 8256 pixels, found"));
    CHECK(peak_growth_mib([&] { decode_image(png, "picture"); }) < 8);

    Bytes jpeg = golden_jpeg();
    const size_t frame = segment(jpeg, 0xc0);
    jpeg[frame + 5] = jpeg[frame + 7] = 0x1f;  // 7949 x 7955
    CHECK(
        contains(image_error(jpeg), "expected at least one byte for 1024 pixels, found"));
    CHECK(peak_growth_mib([&] { decode_image(jpeg, "picture"); }) < 8);
}

TEST_CASE("a picture of every kind takes at most 32 bytes of memory per pixel",
          "[large]") {
    Picture p = {.width = 1024, .height = 1024, .sample = {}};
    p.colour = GENERATE(uint8_t{2}, uint8_t{6});
    p.depth = GENERATE(uint8_t{8}, uint8_t{16});
    p.interlaced = GENERATE(false, true);
    CAPTURE(int{p.colour}, int{p.depth}, p.interlaced);

    // All pixels are 0 with filter 0, interlaced or not.
    const size_t pixels = size_t{1024} * 1024 * p.channels() * p.depth / 8;
    const size_t rows = p.interlaced ? 128 + 128 + 128 + 256 + 256 + 512 + 512 : 1024;
    const Bytes file = png_with(p, deflated(Bytes(pixels + rows)));
    CHECK(image_error(file) == "");
    const int64_t bound = p.depth == 16 ? 32 : 14;
    CHECK(peak_growth_mib([&] { decode_image(file, "picture"); }) < bound);
}

TEST_CASE("a JPEG truncated at any byte is rejected") {
    const Bytes file = golden_jpeg(GENERATE("baseline", "progressive"));
    for (size_t length = 0; length < file.size(); ++length) {
        CAPTURE(length);
        REQUIRE(image_error(first(file, length)) != "");
    }
    CHECK(contains(image_error(first(file, file.size() - 2)),
                   "expected the end marker FF D9, found the end of the file"));
}

TEST_CASE("a JPEG without its tables or a frame or a scan is rejected") {
    const Bytes file = golden_jpeg();
    CHECK(image_error(file) == "");
    Bytes lacking = file;
    for (size_t i = 0; i + 1 < lacking.size(); ++i)  // turn all tables into comments
        if (lacking[i] == 0xff && lacking[i + 1] == 0xc4) lacking[i + 1] = 0xfe;
    CHECK(contains(image_error(lacking), "tables before the first scan"));
    CHECK(contains(image_error(without_segment(without_segment(file, 0xdb), 0xdb)),
                   "tables before the first scan"));
    CHECK(image_error(without_segment(file, 0xc0)) != "");
    CHECK(contains(image_error(without_segment(file, 0xda)), "a marker FF"));
    CHECK(contains(image_error(first(file, segment(file, 0xda)) + Bytes{0xff, 0xd9}),
                   "a scan before the end marker"));
    CHECK(
        contains(image_error({0xff, 0xd8, 0xff, 0xd9}), "a scan before the end marker"));
}

TEST_CASE("a JPEG with invalid tables or frames or scans is rejected") {
    const Bytes good = golden_jpeg();
    Bytes file = good;
    const size_t frame = segment(good, 0xc0), scan = segment(good, 0xda);
    SECTION("a Huffman table of 16 x 255 values") {
        const Bytes table =
            Bytes{0xff, 0xc4, 0x10, 0x03, 0} + Bytes(16, 255) + Bytes(4080);
        CHECK(contains(image_error(first(good, 2) + table + good), "at most 256 values"));
    }
    SECTION("12 bits per sample") {
        file[frame + 4] = 12;
        CHECK(contains(image_error(file), "8-bit only"));
    }
    SECTION("lossless and arithmetic and other frames") {
        file[frame + 1] = GENERATE(uint8_t{0xc3}, uint8_t{0xc9}, uint8_t{0xcf});
        CHECK(contains(image_error(file), "a baseline or progressive JPEG"));
    }
    SECTION("no width") {
        file[frame + 7] = file[frame + 8] = 0;
        CHECK(contains(image_error(file), "found 0 x 13"));
    }
    SECTION("two frames") {
        const Bytes one(good.begin() + static_cast<std::ptrdiff_t>(frame),
                        good.begin() + static_cast<std::ptrdiff_t>(scan));
        CHECK(image_error(first(good, scan) + one + good) != "");
    }
    SECTION("a scan of a component that the frame does not have") {
        file[scan + 5] = 77;
        CHECK(image_error(file) != "");
    }
    SECTION("a segment that is longer than the file") {
        file[2 + 2] = 0xff;
        CHECK(contains(image_error(file), "a segment inside the file"));
    }
    SECTION("more than 100 scans") {
        const Bytes one(good.begin() + static_cast<std::ptrdiff_t>(scan), good.end() - 2);
        Bytes many = first(good, scan);
        for (int i = 0; i < 101; ++i) many = many + one;
        CHECK(contains(image_error(many + Bytes{0xff, 0xd9}), "at most 100 scans"));
    }
}

TEST_CASE("a picture with a damaged byte decodes or throws BadFile and never crashes") {
    const auto decode = [](const Bytes& file) { decode_image(file, "picture"); };
    for (const bool interlaced : {false, true}) {
        Picture p = picture();
        p.interlaced = interlaced;
        const Bytes file = png_of(p);
        CHECK(count_rejected(file, decode) > static_cast<int64_t>(file.size()));
    }
    for (const char* name : {"baseline", "progressive", "subsampled", "grey"}) {
        const Bytes file = golden_jpeg(name);
        CHECK(count_rejected(file, decode) > static_cast<int64_t>(file.size()));
    }
}
