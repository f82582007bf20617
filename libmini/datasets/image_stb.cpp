#include "libmini/datasets/image_stb.hpp"

#include <cstdlib>

#include "libmini/datasets/image_check.hpp"
#include "libmini/io/file.hpp"

namespace {

// A damaged length would let stb allocate up to 4 GiB. A picture within kMaxImagePixels
// needs at most 8 bytes per pixel in one block, and up to twice as much while it grows.
constexpr size_t kMaxBlockBytes = size_t{1} << 30;

// Returns zeroed memory: a JPEG may use tables that it does not define.
void* allocate(size_t size) {
    return size <= kMaxBlockBytes ? std::calloc(1, size) : nullptr;
}

void* reallocate(void* block, size_t size) {
    return size <= kMaxBlockBytes ? std::realloc(block, size) : nullptr;
}

}  // namespace

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_FAILURE_USERMSG
#define STBI_MAX_DIMENSIONS mini::data::kMaxImageSide
#define STBI_MALLOC(size) allocate(size)
#define STBI_REALLOC(block, size) reallocate(block, size)
#define STBI_FREE(block) std::free(block)
#include <stb/stb_image.h>

namespace mini::data {

Pixels decode_with_stb(std::span<const uint8_t> file, const std::string& name) {
    constexpr int kChannels = 4;
    Pixels pixels{.rgba = {nullptr, std::free}};
    stbi__g_failure_reason = "damaged data";  // a few of stb's failures set no reason
    pixels.rgba.reset(stbi_load_from_memory(file.data(), static_cast<int>(file.size()),
                                            &pixels.width, &pixels.height, nullptr,
                                            kChannels));
    if (!pixels.rgba)
        io::bad_file(name, "a picture that stb_image can decode", stbi_failure_reason(),
                     kReplaceImage);
    return pixels;
}

}  // namespace mini::data
