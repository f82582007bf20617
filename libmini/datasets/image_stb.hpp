// A wrapper of stb_image that decodes only PNG and JPEG.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace mini::data {

struct Pixels {
    int width = 0, height = 0;
    std::unique_ptr<uint8_t, void (*)(void*)> rgba;  // (H, W, 4): 255 is opaque
};

/// Decodes the result of checked_image. Throws BadFile if stb_image rejects it.
Pixels decode_with_stb(std::span<const uint8_t> file, const std::string& name);

}  // namespace mini::data
