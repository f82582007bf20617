// How large a picture may be.

#pragma once

#include <cstdint>

namespace mini::data {

/// The largest picture that is read; what is larger is refused.
constexpr int64_t kMaxImageFileBytes = int64_t{8} << 20;
constexpr int64_t kMaxImageSide = 16384;                // pixels
constexpr int64_t kMaxImagePixels = int64_t{4} << 20;   // 2048 x 2048
constexpr int64_t kMaxDecodeBytes = int64_t{40} << 20;  // of stb's memory

}  // namespace mini::data
