// stb_image behind a wall: PNG and JPEG only, and a fixed amount of memory.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::data {

struct RgbPixels {
    int width = 0, height = 0;
    std::vector<uint8_t> bytes;  // (H, W, 3)
    std::string error;           // why there are none; "" when there are
    bool needs_more = false;     // there are none because of max_bytes
};

/// Decodes what checked_png or checked_jpeg let pass, with at most `max_bytes` of memory
/// for stb's work.
RgbPixels decode_with_stb(std::span<const uint8_t> file, int64_t max_bytes);

}  // namespace mini::data
