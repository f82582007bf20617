// A wrapper of stb_image that decodes only PNG and JPEG, with limited memory.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::data {

struct Pixels {
    int width = 0, height = 0;
    int channels = 0;            // 3: RGB; 4: RGB and alpha
    std::vector<uint8_t> bytes;  // (H, W, channels)
    std::string error;           // why decoding failed; "" on success
    bool needs_more = false;     // whether decoding failed because of max_bytes
};

/// Decodes the result of checked_png or checked_jpeg, and returns the pixels, with 3 or 4
/// `channels`, or the error. stb may allocate at most `max_bytes`.
Pixels decode_with_stb(std::span<const uint8_t> file, int channels, int64_t max_bytes);

}  // namespace mini::data
