// Writes small PNGs of every kind for the tests, valid or invalid.

#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/data/support.hpp"

inline Bytes big_endian_word(uint32_t number) {
    return {static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16),
            static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}

inline Bytes chunk(const std::string& type, const Bytes& data) {
    const Bytes typed = Bytes(type.begin(), type.end()) + data;
    const auto crc = crc32(0, typed.data(), static_cast<unsigned>(typed.size()));
    return big_endian_word(static_cast<uint32_t>(data.size())) + typed +
           big_endian_word(static_cast<uint32_t>(crc));
}

inline Bytes deflated(const Bytes& bytes) {
    Bytes packed(compressBound(bytes.size()));
    uLongf size = packed.size();
    compress2(packed.data(), &size, bytes.data(), bytes.size(), Z_BEST_COMPRESSION);
    packed.resize(size);
    return packed;
}

const Bytes kPngSignature = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};

/// The description of a PNG; `sample(x, y, channel)` is below 2^depth.
struct Picture {
    uint32_t width = 5, height = 4;
    uint8_t depth = 8, colour = 2;
    std::function<uint32_t(uint32_t, uint32_t, uint32_t)> sample;
    bool interlaced = false;
    Bytes palette = {}, transparency = {};

    uint32_t channels() const {
        constexpr uint32_t kChannels[] = {1, 0, 3, 1, 2, 0, 4};
        return kChannels[colour];
    }
};

inline Bytes png_header(const Picture& p) {
    return chunk("IHDR", big_endian_word(p.width) + big_endian_word(p.height) +
                             Bytes{p.depth, p.colour, 0, 0, p.interlaced});
}

// Packs the samples of a row into bytes, the first sample in the highest bits.
inline Bytes packed_row(const Picture& p, uint32_t y, uint32_t x0, uint32_t step) {
    Bytes row;
    uint32_t bits = 0, have = 0;
    for (uint32_t x = x0; x < p.width; x += step)
        for (uint32_t c = 0; c < p.channels(); ++c) {
            bits = bits << p.depth | p.sample(x, y, c);
            for (have += p.depth; have >= 8; have -= 8)
                row.push_back(static_cast<uint8_t>(bits >> (have - 8)));
            bits &= (1u << have) - 1;
        }
    if (have > 0) row.push_back(static_cast<uint8_t>(bits << (8 - have)));
    return row;
}

// Returns the byte that a PNG filter predicts from the bytes to the left, above, and
// above left.
inline int predicted(int filter, int left, int above, int corner) {
    const int p = left + above - corner;
    const int a = std::abs(p - left), b = std::abs(p - above), c = std::abs(p - corner);
    switch (filter) {
        case 1: return left;
        case 2: return above;
        case 3: return (left + above) / 2;
        case 4: return a <= b && a <= c ? left : b <= c ? above : corner;
        default: return 0;
    }
}

/// Returns the rows of a picture before compression. Each row begins with its filter
/// byte: 0, 1, 2, 3, 4, 0, 1, ... in turn.
inline Bytes png_rows(const Picture& p) {
    struct Pass {
        uint32_t x, y, x_step, y_step;
    };
    std::vector<Pass> passes = {{0, 0, 1, 1}};
    if (p.interlaced)
        passes = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                  {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    const size_t pixel = std::max(1u, p.channels() * p.depth / 8u);

    Bytes out;
    for (const Pass& pass : passes) {
        Bytes above;
        int filter = 0;
        for (uint32_t y = pass.y; y < p.height && pass.x < p.width; y += pass.y_step) {
            const Bytes row = packed_row(p, y, pass.x, pass.x_step);
            above.resize(row.size());
            out.push_back(static_cast<uint8_t>(filter));
            for (size_t i = 0; i < row.size(); ++i) {
                const int left = i < pixel ? 0 : row[i - pixel];
                const int corner = i < pixel ? 0 : above[i - pixel];
                out.push_back(static_cast<uint8_t>(
                    row[i] - predicted(filter, left, above[i], corner)));
            }
            above = row;
            filter = (filter + 1) % 5;
        }
    }
    return out;
}

/// Returns a PNG with the compressed rows `packed`, even if they do not match its header.
inline Bytes png_with(const Picture& p, const Bytes& packed) {
    Bytes out = kPngSignature + png_header(p);
    if (!p.palette.empty()) out = out + chunk("PLTE", p.palette);
    if (!p.transparency.empty()) out = out + chunk("tRNS", p.transparency);
    return out + chunk("IDAT", packed) + chunk("IEND", {});
}

inline Bytes png_of(const Picture& p) { return png_with(p, deflated(png_rows(p))); }

/// Returns a PNG of a single colour.
inline Bytes plain_png(uint32_t width, uint32_t height, const Bytes& rgb) {
    return png_of({.width = width,
                   .height = height,
                   .sample = [&](uint32_t, uint32_t, uint32_t c) { return rgb[c]; }});
}

/// Returns the bytes of a file.
inline Bytes read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}
