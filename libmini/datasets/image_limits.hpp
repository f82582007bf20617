// The limits on the size of a picture.

#pragma once

#include <cstdint>

namespace mini::data {

/// decode_image throws BadFile for a picture above one of these limits. Photographs of
/// 64 megapixels (9248 x 6936) are within them.
constexpr int64_t kMaxImageFileBytes = int64_t{256} << 20;
constexpr int64_t kMaxImageSide = 65535;                  // pixels; the limit of JPEG
constexpr int64_t kMaxImagePixels = int64_t{64} << 20;    // 8192 x 8192
constexpr int64_t kMaxDecodeBytes = int64_t{1024} << 20;  // allocated by stb

}  // namespace mini::data
