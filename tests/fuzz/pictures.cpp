// Targets that read images.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libmini/datasets/image_file.hpp"
#include "tests/datasets/images.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/read_file.hpp"

namespace mini::fuzz {
namespace {

void run_picture(Input input) {
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(input.data()),
                                         input.size());
    data::decode_image(bytes, "input");
}

std::vector<std::string> png_seeds() {
    std::vector<std::string> seeds;
    const auto add = [&](Picture picture) {
        const uint32_t largest = (1u << picture.depth) - 1;
        picture.sample = [largest](uint32_t x, uint32_t y, uint32_t channel) {
            return (31 * x + 7 * y + channel) & largest;
        };
        seeds.push_back(text_of(png_of(picture)));
    };
    add({.depth = 8, .colour = 2, .sample = {}});
    add({.depth = 1, .colour = 0, .sample = {}});
    add({.depth = 16, .colour = 6, .sample = {}, .interlaced = true});
    add({.depth = 2, .colour = 3, .sample = {}, .palette = ramp(12, 251)});
    add({.depth = 8, .colour = 4, .sample = {}, .interlaced = true});
    return seeds;
}

// Returns the big-endian number of 4 bytes at `offset`.
uint32_t number_at(const std::string& bytes, size_t offset) {
    uint32_t number = 0;
    for (size_t i = 0; i < 4; ++i)
        number = number << 8 | static_cast<uint8_t>(bytes[offset + i]);
    return number;
}

void put_number(std::string& bytes, size_t offset, uint32_t number) {
    bytes.replace(offset, 4, text_of(big_endian_word(number)));
}

// Decompresses `packed` as far as possible and compresses the result again.
std::string packed_again(const std::string& packed) {
    Bytes pixels(size_t{1} << 16);
    z_stream stream{};
    inflateInit(&stream);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<unsigned>(packed.size());
    stream.next_out = pixels.data();
    stream.avail_out = static_cast<unsigned>(pixels.size());
    inflate(&stream, Z_SYNC_FLUSH);
    pixels.resize(stream.total_out);
    inflateEnd(&stream);
    return text_of(deflated(pixels));
}

// Corrects each chunk's CRC, the checksum of the pixels, and the last chunk's length.
void repair_png(std::string& bytes) {
    constexpr size_t kFrame = 12;  // length, type, CRC
    for (size_t at = kPngSignature.size(); at + kFrame <= bytes.size();) {
        const size_t room = bytes.size() - at - kFrame;
        size_t length = std::min<size_t>(number_at(bytes, at), room);
        if (bytes.compare(at + 4, 4, "IDAT") == 0) {
            const std::string packed = packed_again(bytes.substr(at + 8, length));
            bytes.replace(at + 8, length, packed);
            length = packed.size();
        }
        put_number(bytes, at, static_cast<uint32_t>(length));
        const auto* const typed = reinterpret_cast<const Bytef*>(bytes.data() + at + 4);
        const auto crc = crc32(0, typed, static_cast<unsigned>(length + 4));
        put_number(bytes, at + 8 + length, static_cast<uint32_t>(crc));
        at += kFrame + length;
    }
}

std::vector<std::string> jpeg_seeds() {
    std::vector<std::string> seeds;
    for (const char* name : {"baseline", "grey", "progressive", "subsampled"})
        seeds.push_back(
            test::read_file(std::string(MINI_GOLDEN_DIR "/images/") + name + ".jpg"));
    return seeds;
}

constexpr std::array kTargets = {
    Target{"png", run_picture, png_seeds, repair_png},
    Target{"jpeg", run_picture, jpeg_seeds},
};

}  // namespace

std::span<const Target> picture_targets() { return kTargets; }

}  // namespace mini::fuzz
