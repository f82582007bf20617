// A wrapper of stb_image that decodes only PNG and JPEG, with limited memory.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::data {

struct RgbPixels {
    int width = 0, height = 0;
    std::vector<uint8_t> bytes;  // (H, W, 3)
    std::string error;           // why decoding failed; "" on success
    bool needs_more = false;     // whether decoding failed because of max_bytes
};

/// Decodes the result of checked_png or checked_jpeg, and returns the pixels or the
/// error. stb may allocate at most `max_bytes`.
RgbPixels decode_with_stb(std::span<const uint8_t> file, int64_t max_bytes);

}  // namespace mini::data
