// Checks a PNG and rewrites it.
//
//     signature | chunk | chunk | ...       a chunk: length (4) type (4) data CRC-32 (4)
//
//     IHDR   width, height, depth, colour type, ..     first
//     PLTE   a palette of up to 256 colours            before IDAT
//     tRNS   alpha of the palette's colours, or the colour that is transparent
//     IDAT   the pixels, deflated; any number of chunks
//     IEND   the end
//
//     eXIf   the orientation
//
// Chunks whose type begins with a lowercase letter are optional; all others are skipped.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/datasets/image_check.hpp"
#include "libmini/datasets/regular_file.hpp"

namespace mini::data {
namespace {

using Bytes = std::vector<uint8_t>;
using Span = std::span<const uint8_t>;

constexpr std::array<uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
constexpr size_t kChunkFrame = 12;  // length, type, CRC
constexpr size_t kPaletteBytes = 3 * 256;

uint32_t big_endian_32(Span four) {
    return uint32_t{four[0]} << 24 | uint32_t{four[1]} << 16 | uint32_t{four[2]} << 8 |
           four[3];
}

uint32_t crc_of(Span bytes) {
    return static_cast<uint32_t>(
        crc32(0, bytes.data(), static_cast<unsigned>(bytes.size())));
}

struct Chunk {
    std::string type;  // "IHDR"
    Span data;
    size_t offset;  // of the chunk in the file
};

// Reads the chunk at `offset`. Throws BadFile if it is truncated or its CRC is wrong.
Chunk read_chunk(Span file, size_t offset, const std::string& name) {
    if (file.size() - offset < kChunkFrame)
        bad_file(name, concat("a PNG chunk at byte ", offset, " (IEND is missing)"),
                 concat("the end of the file at byte ", file.size()), kReplaceImage);
    const size_t length = big_endian_32(file.subspan(offset, 4));
    const size_t room = file.size() - offset - kChunkFrame;
    if (length > room)
        bad_file(name,
                 concat("a PNG chunk at byte ", offset, " of at most ", room, " bytes"),
                 concat("a length of ", length), kReplaceImage);

    const Span typed = file.subspan(offset + 4, 4 + length);  // covered by the CRC
    if (!std::all_of(typed.begin(), typed.begin() + 4, [](uint8_t letter) {
            return (letter | 32) >= 'a' && (letter | 32) <= 'z';
        }))
        bad_file(name, concat("four letters, a PNG chunk's type, at byte ", offset + 4),
                 "other bytes", kReplaceImage);
    const std::string type(typed.begin(), typed.begin() + 4);
    const uint32_t stored = big_endian_32(file.subspan(offset + 8 + length, 4));
    const uint32_t computed = crc_of(typed);
    if (stored != computed)
        bad_file(
            name,
            concat("CRC-32 ", computed, " of the PNG chunk ", type, " at byte ", offset),
            concat(stored), kReplaceImage);
    return {type, typed.subspan(4), offset};
}

struct Header {
    int64_t width, height;
    int depth, colour, interlace;

    int64_t bits_per_pixel() const {
        constexpr std::array<int, 7> kChannels = {1, 0, 3, 1, 2, 0, 4};
        return int64_t{kChannels[static_cast<size_t>(colour)]} * depth;
    }
};

bool depth_is_allowed(int colour, int depth) {
    const bool small = depth == 1 || depth == 2 || depth == 4;
    switch (colour) {
        case 0: return small || depth == 8 || depth == 16;  // grey
        case 3: return small || depth == 8;                 // palette
        case 2:                                             // RGB
        case 4:                                             // grey and alpha
        case 6: return depth == 8 || depth == 16;           // RGB and alpha
        default: return false;
    }
}

Header read_header(const Chunk& chunk, const std::string& name) {
    if (chunk.type != "IHDR" || chunk.data.size() != 13)
        bad_file(name, "the PNG chunk IHDR of 13 bytes first",
                 concat(chunk.type, " of ", chunk.data.size()), kReplaceImage);
    const Span data = chunk.data;
    check_image_size(big_endian_32(data.first(4)), big_endian_32(data.subspan(4, 4)),
                     name);
    const Header header = {.width = big_endian_32(data.first(4)),
                           .height = big_endian_32(data.subspan(4, 4)),
                           .depth = data[8],
                           .colour = data[9],
                           .interlace = data[12]};
    if (!depth_is_allowed(header.colour, header.depth))
        bad_file(name, "a PNG colour type with one of its depths",
                 concat("colour type ", header.colour, " with ", header.depth, " bits"),
                 kReplaceImage);
    if (data[10] != 0 || data[11] != 0 || header.interlace > 1)
        bad_file(name, "a PNG of compression 0, filter 0 and interlacing 0 or 1",
                 concat(int{data[10]}, ", ", int{data[11]}, " and ", header.interlace),
                 kReplaceImage);
    return header;
}

// Returns the number of bytes of rows x columns pixels; each row starts with a
// filter byte.
int64_t packed_bytes(const Header& header, int64_t columns, int64_t rows) {
    if (columns == 0) return 0;
    return ((columns * header.bits_per_pixel() + 7) / 8 + 1) * rows;
}

// Returns the number of bytes that the pixel data must unpack to.
int64_t unpacked_bytes(const Header& header) {
    if (header.interlace == 0) return packed_bytes(header, header.width, header.height);

    // Adam7: seven reduced pictures, each with every x_step-th column from column x on,
    // and every y_step-th row from row y on.
    struct Pass {
        int64_t x, y, x_step, y_step;
    };
    constexpr std::array<Pass, 7> kPasses = {{{0, 0, 8, 8},
                                              {4, 0, 8, 8},
                                              {0, 4, 4, 8},
                                              {2, 0, 4, 4},
                                              {0, 2, 2, 4},
                                              {1, 0, 2, 2},
                                              {0, 1, 1, 2}}};
    int64_t total = 0;
    for (const Pass& pass : kPasses)
        total +=
            packed_bytes(header, (header.width - pass.x + pass.x_step - 1) / pass.x_step,
                         (header.height - pass.y + pass.y_step - 1) / pass.y_step);
    return total;
}

// Unpacks the pixel data through a small buffer, to check their size and checksum. Throws
// BadFile if the size or the checksum is wrong.
void check_pixels(Span packed, int64_t expected, const std::string& name) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw Error("inflateInit failed: out of memory");
    stream.next_in = const_cast<uint8_t*>(packed.data());
    stream.avail_in = static_cast<unsigned>(packed.size());
    std::vector<uint8_t> scratch(size_t{1} << 16);
    int64_t unpacked = 0;
    int status = Z_OK;
    while (status == Z_OK && unpacked <= expected) {
        stream.next_out = scratch.data();
        stream.avail_out = static_cast<unsigned>(scratch.size());
        status = inflate(&stream, Z_NO_FLUSH);
        unpacked += static_cast<int64_t>(scratch.size() - stream.avail_out);
    }
    const std::string reason = stream.msg ? stream.msg : "truncated";
    inflateEnd(&stream);

    const std::string wanted =
        concat("PNG pixel data that unpack to ", expected, " bytes");
    if (unpacked > expected) bad_file(name, wanted, "more", kReplaceImage);
    if (status != Z_STREAM_END)
        bad_file(name, wanted,
                 concat("a damaged zlib stream (", reason, ") after ", unpacked),
                 kReplaceImage);
    if (unpacked < expected)
        bad_file(name, wanted, concat("only ", unpacked), kReplaceImage);
}

void append_chunk(Bytes& out, std::string_view type, Span data) {
    const auto append_number = [&](uint32_t number) {
        for (int shift = 24; shift >= 0; shift -= 8)
            out.push_back(static_cast<uint8_t>(number >> shift));
    };
    append_number(static_cast<uint32_t>(data.size()));
    const size_t begin = out.size();
    out.insert(out.end(), type.begin(), type.end());
    out.insert(out.end(), data.begin(), data.end());
    append_number(crc_of(Span(out).subspan(begin)));
}

// The chunks that determine the pixels.
struct Parts {
    Chunk header;
    Bytes palette;
    Span transparency;
    std::vector<Span> pixels;
    int orientation = 1;
};

void read_palette(Parts& parts, const Chunk& chunk, const std::string& name) {
    const size_t size = chunk.data.size();
    if (!parts.palette.empty() || !parts.pixels.empty() || size == 0 || size % 3 != 0 ||
        size > kPaletteBytes)
        bad_file(name,
                 concat("one PNG palette of 1 to 256 colours before the pixels, at byte ",
                        chunk.offset),
                 concat("a palette of ", size, " bytes"), kReplaceImage);
    parts.palette.assign(chunk.data.begin(), chunk.data.end());
    parts.palette.resize(kPaletteBytes);
}

// Keeps a valid chunk tRNS; as libpng does, ignores a chunk at another place or of
// another size, and a second one.
void read_transparency(Parts& parts, const Chunk& chunk, int colour) {
    const size_t size = chunk.data.size();
    const bool fits = colour == 0 ? size == 2
                      : colour == 2
                          ? size == 6
                          : colour == 3 && !parts.palette.empty() && size <= 256;
    if (fits && parts.transparency.empty() && parts.pixels.empty())
        parts.transparency = chunk.data;
}

Parts read_parts(Span file, const std::string& name) {
    size_t offset = kSignature.size();
    Chunk chunk = read_chunk(file, offset, name);
    const Header header = read_header(chunk, name);
    Parts parts = {.header = chunk, .palette = {}, .transparency = {}, .pixels = {}};
    while (chunk.type != "IEND") {
        offset += kChunkFrame + chunk.data.size();
        chunk = read_chunk(file, offset, name);
        const bool skippable = chunk.type[0] >= 'a';
        if (chunk.type == "PLTE")
            read_palette(parts, chunk, name);
        else if (chunk.type == "IDAT")
            parts.pixels.push_back(chunk.data);
        else if (chunk.type == "tRNS")
            read_transparency(parts, chunk, header.colour);
        else if (chunk.type == "eXIf")
            parts.orientation = exif_orientation(chunk.data);
        else if (!skippable && chunk.type != "IEND")
            bad_file(name, concat("PLTE, IDAT or IEND at byte ", offset),
                     "the PNG chunk " + chunk.type, kConvertImage);
    }
    if (header.colour == 3 && parts.palette.empty())
        bad_file(name, "a palette, for colour type 3", "none before IEND", kReplaceImage);
    return parts;
}

}  // namespace

bool is_png(Span bytes) {
    return bytes.size() >= kSignature.size() &&
           std::equal(kSignature.begin(), kSignature.end(), bytes.begin());
}

CheckedImage checked_png(Span bytes, const std::string& name) {
    // Check the chunks, then the pixel data.
    const Parts parts = read_parts(bytes, name);
    const Header header = read_header(parts.header, name);
    Bytes packed;
    packed.reserve(bytes.size());
    for (const Span part : parts.pixels)
        packed.insert(packed.end(), part.begin(), part.end());
    check_pixels(packed, unpacked_bytes(header), name);

    // Write only the chunks that the pixels need.
    Bytes clean(kSignature.begin(), kSignature.end());
    clean.reserve(bytes.size() + kPaletteBytes + kChunkFrame);
    append_chunk(clean, "IHDR", parts.header.data);
    if (header.colour == 3) append_chunk(clean, "PLTE", parts.palette);
    if (!parts.transparency.empty()) append_chunk(clean, "tRNS", parts.transparency);
    append_chunk(clean, "IDAT", packed);
    append_chunk(clean, "IEND", {});
    return {.file = std::move(clean),
            .width = header.width,
            .height = header.height,
            .orientation = parts.orientation};
}

}  // namespace mini::data
