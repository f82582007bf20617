// The limits on the size of a picture.

#pragma once

#include <cstdint>

namespace mini::data {

/// decode_image throws BadFile for a picture above one of these limits.
constexpr int64_t kMaxImageFileBytes = int64_t{8} << 20;
constexpr int64_t kMaxImageSide = 16384;                // pixels
constexpr int64_t kMaxImagePixels = int64_t{4} << 20;   // 2048 x 2048
constexpr int64_t kMaxDecodeBytes = int64_t{40} << 20;  // allocated by stb

}  // namespace mini::data
