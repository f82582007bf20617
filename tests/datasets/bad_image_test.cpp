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

// What decode_image has to say about these bytes: one line with file, expectation, finding
// and next step, or "" when it takes them.
std::string image_complaint(const Bytes& file) {
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

// Where a JPEG's segment FF `marker` begins.
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

// Growth of a process that decodes these bytes. The reader's promise is 64 MiB in all, of
// which a process without a picture has fewer than 10.
void check_memory(const Bytes& file) {
    const int64_t bound = kSanitized ? 1024 : 54;
    CHECK(peak_growth_mib([&] { decode_image(file, "picture"); }) < bound);
}

}  // namespace

TEST_CASE("what is no PNG or JPEG is refused by its first bytes, whatever its name") {
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

TEST_CASE("a PNG with a wrong CRC is refused, with the chunk and its offset") {
    Bytes file = png_of(picture());
    SECTION("of the header") {
        file[8 + 8 + 13] ^= 1;
        CHECK(contains(image_complaint(file), "of the PNG chunk IHDR at byte 8, found"));
    }
    SECTION("of the pixels") {
        file[file.size() - 12 - 1] ^= 1;
        CHECK(contains(image_complaint(file), "of the PNG chunk IDAT at byte 33, found"));
    }
    SECTION("of the end") {
        file.back() ^= 1;
        CHECK(contains(image_complaint(file), "of the PNG chunk IEND"));
    }
}

TEST_CASE("a PNG cut short anywhere is refused") {
    const Bytes file = png_of(picture());
    for (size_t length = 0; length < file.size(); ++length) {
        CAPTURE(length);
        REQUIRE(image_complaint(first(file, length)) != "");
    }
    CHECK(
        contains(image_complaint(first(file, file.size() - 12)), "(IEND has not come)"));
}

TEST_CASE("a PNG chunk that is longer than the file is refused") {
    Bytes file = png_of(picture());
    for (const uint8_t high : {0x00, 0x7f, 0xff}) {
        file[33] = high, file[34] = 1;
        CHECK(contains(image_complaint(file), "a PNG chunk at byte 33 of at most"));
    }
}

TEST_CASE("PNG pixel data that are not what the header says are refused") {
    const Picture p = picture();
    const Bytes rows = png_rows(p), packed = deflated(rows);
    REQUIRE(rows.size() == 64);
    SECTION("too few") {
        CHECK(contains(image_complaint(png_with(p, deflated(first(rows, 63)))),
                       "expected PNG pixel data that unpack to 64 bytes, found only 63"));
    }
    SECTION("too many") {
        CHECK(contains(image_complaint(png_with(p, deflated(rows + Bytes{0}))),
                       "found more"));
    }
    SECTION("a zlib stream cut short") {
        for (size_t length = 0; length < packed.size(); ++length)
            REQUIRE(contains(image_complaint(png_with(p, first(packed, length))),
                             "a damaged zlib stream"));
    }
    SECTION("a wrong check sum behind the stream") {
        Bytes damaged = packed;
        damaged.back() ^= 1;
        CHECK(contains(image_complaint(png_with(p, damaged)), "incorrect data check"));
    }
    SECTION("no zlib stream") {
        CHECK(
            contains(image_complaint(png_with(p, {1, 2, 3})), "incorrect header check"));
    }
    SECTION("a filter that does not exist") {
        Bytes wrong = rows;
        wrong[16] = 5;
        CHECK(contains(image_complaint(png_with(p, deflated(wrong))), "invalid filter"));
    }
    SECTION("another size in the header") {
        Picture lie = p;
        lie.height = 5;
        CHECK(contains(image_complaint(png_with(lie, packed)), "unpack to 80 bytes"));
    }
    SECTION("no pixels at all") {
        CHECK(contains(image_complaint(kPngSignature + png_header(p) + chunk("IEND", {})),
                       "found a damaged zlib stream"));
    }
}

TEST_CASE("a PNG header or palette that no picture has is refused") {
    const Picture good = picture();
    const Bytes packed = deflated(png_rows(good));
    Picture p = good;
    SECTION("no width") {
        p.width = 0;
        CHECK(contains(image_complaint(png_with(p, packed)), "found 0 x 4"));
    }
    SECTION("no height") {
        p.height = 0;
        CHECK(contains(image_complaint(png_with(p, packed)), "found 5 x 0"));
    }
    SECTION("a depth that the colour type does not have") {
        p.depth = GENERATE(uint8_t{0}, uint8_t{1}, uint8_t{3}, uint8_t{4}, uint8_t{255});
        CHECK(contains(image_complaint(png_with(p, packed)), "found colour type 2 with"));
    }
    SECTION("a colour type that does not exist") {
        const uint8_t colour = GENERATE(uint8_t{1}, uint8_t{5}, uint8_t{7}, uint8_t{255});
        const Bytes header = {0, 0, 0, 5, 0, 0, 0, 4, 8, colour, 0, 0, 0};
        CHECK(contains(image_complaint(kPngSignature + chunk("IHDR", header)),
                       "colour type"));
    }
    SECTION("unknown compression, filter or interlacing") {
        for (size_t i = 10; i < 13; ++i) {
            Bytes header = {0, 0, 0, 5, 0, 0, 0, 4, 8, 2, 0, 0, 0};
            header[i] = 2;
            CHECK(contains(image_complaint(kPngSignature + chunk("IHDR", header)),
                           "interlacing 0 or 1"));
        }
    }
    SECTION("a header of a different length, a second one, or none first") {
        CHECK(contains(image_complaint(kPngSignature + chunk("IHDR", {1, 2})),
                       "IHDR of 2"));
        CHECK(contains(image_complaint(kPngSignature + chunk("IDAT", packed)),
                       "found IDAT"));
        CHECK(contains(image_complaint(kPngSignature + png_header(p) + png_header(p)),
                       "the PNG chunk IHDR"));
    }
    SECTION("a palette that is missing, late, double, odd or too large") {
        p.colour = 3;
        CHECK(contains(image_complaint(png_with(p, packed)), "found none before IEND"));
        const Bytes begin = kPngSignature + png_header(p);
        const Bytes late = chunk("IDAT", packed) + chunk("PLTE", {1, 2, 3});
        CHECK(contains(image_complaint(begin + late), "before the pixels"));
        const Bytes twice = chunk("PLTE", {1, 2, 3}) + chunk("PLTE", {1, 2, 3});
        CHECK(contains(image_complaint(begin + twice), "one PNG palette"));
        CHECK(contains(image_complaint(begin + chunk("PLTE", {1, 2})), "of 2 bytes"));
        CHECK(contains(image_complaint(begin + chunk("PLTE", ramp(771, 9))),
                       "of 771 bytes"));
    }
    SECTION("a chunk that must be understood and is not") {
        CHECK(contains(image_complaint(kPngSignature + png_header(p) + chunk("WHAT", {})),
                       "the PNG chunk WHAT"));
        CHECK(
            contains(image_complaint(kPngSignature + png_header(p) + chunk("W\nAT", {})),
                     "four letters"));
    }
}

TEST_CASE("a picture that is too large is refused by its header, without the memory") {
    Picture p = picture();
    p.width = p.height = 60000;
    const Bytes file = png_with(p, deflated({}));
    CHECK(contains(image_complaint(file), "found 60000 x 60000; scale the picture down"));
    CHECK(peak_growth_mib([&] { decode_image(file, "picture"); }) < 16);
    p.width = p.height = 0xffffffff;
    CHECK(contains(image_complaint(png_with(p, {})), "found 4294967295 x 4294967295"));
    p.width = 16385, p.height = 1;
    CHECK(contains(image_complaint(png_with(p, {})), "found 16385 x 1"));
    p.width = 2049, p.height = 2048;
    CHECK(contains(image_complaint(png_with(p, {})), "at most 4194304 in all"));

    Bytes jpeg = golden_jpeg();
    const size_t frame = segment(jpeg, 0xc0);
    for (size_t i = 5; i < 9; ++i) jpeg[frame + i] = 0xea;  // 0xeaea = 60138
    CHECK(contains(image_complaint(jpeg), "found 60138 x 60138"));
}

TEST_CASE("a small PNG that unpacks to much more than its size is read no further") {
    const Bytes bomb = png_with(picture(), deflated(Bytes(50'000'000)));
    CHECK(bomb.size() < 60'000);
    CHECK(contains(image_complaint(bomb), "unpack to 64 bytes, found more"));
    CHECK(peak_growth_mib([&] { decode_image(bomb, "picture"); }) < 8);
}

TEST_CASE("the largest pictures of every kind are read or refused within 64 MiB") {
    Picture p = {.width = 2048, .height = 2048, .sample = {}};
    p.colour = GENERATE(uint8_t{2}, uint8_t{6});
    p.depth = GENERATE(uint8_t{8}, uint8_t{16});
    p.interlaced = GENERATE(false, true);
    CAPTURE(int{p.colour}, int{p.depth}, p.interlaced);

    // Pixels of 0 with filter 0, whichever way they are interlaced.
    const size_t pixels = size_t{2048} * 2048 * p.channels() * p.depth / 8;
    const size_t rows = p.interlaced ? 256 + 256 + 256 + 512 + 512 + 1024 + 1024 : 2048;
    const Bytes file = png_with(p, deflated(Bytes(pixels + rows)));
    const std::string message = image_complaint(file);
    if (p.depth == 8 && !p.interlaced) CHECK(message == "");
    if (!message.empty()) CHECK(contains(message, "within 40 MiB, found one that needs"));
    check_memory(file);
}

TEST_CASE("a JPEG cut short anywhere is refused") {
    const Bytes file = golden_jpeg(GENERATE("baseline", "progressive"));
    for (size_t length = 0; length < file.size(); ++length) {
        CAPTURE(length);
        REQUIRE(image_complaint(first(file, length)) != "");
    }
    CHECK(contains(image_complaint(first(file, file.size() - 2)),
                   "expected the end mark FF D9, found the end of the file"));
}

TEST_CASE("a JPEG whose tables or components are missing is refused") {
    const Bytes file = golden_jpeg();
    CHECK(image_complaint(file) == "");
    CHECK(contains(image_complaint(without_segment(file, 0xdb)), "a quantization table"));
    CHECK(contains(image_complaint(without_segment(file, 0xc4)),
                   "Huffman tables that were"));
    CHECK(contains(image_complaint(without_segment(file, 0xc0)),
                   "a frame before the first"));
    CHECK(contains(image_complaint(without_segment(file, 0xda)), "a marker FF"));
    CHECK(contains(image_complaint(first(file, segment(file, 0xda)) + Bytes{0xff, 0xd9}),
                   "a scan of every component"));
    CHECK(contains(image_complaint({0xff, 0xd8, 0xff, 0xd9}),
                   "a picture before the end mark"));
}

TEST_CASE("a JPEG that lacks any one of its Huffman tables is refused") {
    const Bytes file = golden_jpeg(GENERATE("baseline", "progressive"));
    int tables = 0;
    for (size_t at = 2; file[at + 1] != 0xda || tables == 0;) {
        const size_t length = 2 + size_t{file[at + 2]} * 256 + file[at + 3];
        if (file[at + 1] == 0xc4) {
            // Call it a comment.
            Bytes lacking = file;
            lacking[at + 1] = 0xfe;
            CAPTURE(at);
            CHECK(contains(image_complaint(lacking), "Huffman tables that were defined"));
            ++tables;
        }
        at += length;
    }
    CHECK(tables > 0);
}

TEST_CASE("a JPEG with impossible tables, frames or scans is refused") {
    const Bytes good = golden_jpeg();
    Bytes file = good;
    const size_t frame = segment(good, 0xc0), scan = segment(good, 0xda);
    SECTION("a Huffman table of 16 x 255 values") {
        const Bytes table =
            Bytes{0xff, 0xc4, 0x10, 0x03, 0} + Bytes(16, 255) + Bytes(4080);
        CHECK(contains(image_complaint(first(good, 2) + table + good),
                       "at most 256 values"));
    }
    SECTION("12 bits a sample") {
        file[frame + 4] = 12;
        CHECK(contains(image_complaint(file), "expected 8 bits a sample, found 12"));
    }
    SECTION("lossless, arithmetic and other frames") {
        file[frame + 1] = GENERATE(uint8_t{0xc3}, uint8_t{0xc9}, uint8_t{0xcf});
        CHECK(contains(image_complaint(file), "a baseline or progressive JPEG"));
    }
    SECTION("no width") {
        file[frame + 7] = file[frame + 8] = 0;
        CHECK(contains(image_complaint(file), "found 0 x 13"));
    }
    SECTION("two frames") {
        const Bytes one(good.begin() + static_cast<std::ptrdiff_t>(frame),
                        good.begin() + static_cast<std::ptrdiff_t>(scan));
        CHECK(contains(image_complaint(first(good, scan) + one + good), "one frame"));
    }
    SECTION("a scan of a component that the frame does not have") {
        file[scan + 5] = 77;
        CHECK(contains(image_complaint(file), "found component 77"));
    }
    SECTION("a segment that is longer than the file") {
        file[2 + 2] = 0xff;
        CHECK(contains(image_complaint(file), "a segment FF e0 of 2 to"));
    }
    SECTION("more scans than a picture needs") {
        const Bytes one(good.begin() + static_cast<std::ptrdiff_t>(scan), good.end() - 2);
        Bytes many = first(good, scan);
        for (int i = 0; i < 101; ++i) many = many + one;
        CHECK(contains(image_complaint(many + Bytes{0xff, 0xd9}), "at most 100 scans"));
    }
}

TEST_CASE("a picture with a damaged byte gives a picture or BadFile, and never a crash") {
    const auto decode = [](const Bytes& file) { decode_image(file, "picture"); };
    for (const bool interlaced : {false, true}) {
        Picture p = picture();
        p.interlaced = interlaced;
        const Bytes file = png_of(p);
        CHECK(refused_of_damaged(file, decode) == 4 * static_cast<int64_t>(file.size()));
    }
    for (const char* name : {"baseline", "progressive", "subsampled", "grey"}) {
        const Bytes file = golden_jpeg(name);
        CHECK(refused_of_damaged(file, decode) > static_cast<int64_t>(file.size()));
    }
}
