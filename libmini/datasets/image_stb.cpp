#include "libmini/datasets/image_stb.hpp"

#include <cstdlib>
#include <map>
#include <stdexcept>

#include "libmini/datasets/image_limits.hpp"

namespace {

class Workspace;
thread_local Workspace* workspace = nullptr;  // of this thread's current picture

// The memory that stb allocates while it decodes one picture. Each block is zeroed, so
// that a damaged picture does not show the block's previous contents. The destructor
// frees all blocks, so that stb leaks no memory when decoding fails.
class Workspace {
  public:
    explicit Workspace(size_t max_bytes) : free_bytes_(max_bytes) { workspace = this; }
    ~Workspace() {
        workspace = nullptr;
        for (const auto& [block, size] : blocks_) std::free(block);
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    /// Returns zeroed memory, or nullptr if the limit or the memory is exhausted.
    void* allocate(size_t size) {
        void* block = size <= free_bytes_ ? std::calloc(1, size) : nullptr;
        if (!block) {
            is_full_ = true;
            return nullptr;
        }
        free_bytes_ -= size;
        blocks_[block] = size;
        return block;
    }

    void deallocate(void* block) {
        const auto found = blocks_.find(block);
        if (found == blocks_.end()) return;  // nullptr
        free_bytes_ += found->second;
        blocks_.erase(found);
        std::free(block);
    }

    /// Returns whether an allocation has failed.
    bool is_full() const { return is_full_; }

  private:
    size_t free_bytes_;
    bool is_full_ = false;
    std::map<void*, size_t> blocks_;
};

void* allocate(size_t size) { return workspace->allocate(size); }
void deallocate(void* block) { workspace->deallocate(block); }

void* reallocate(void* old, size_t old_size, size_t size) {
    void* block = allocate(size);
    if (!block) return nullptr;
    const size_t kept = old_size < size ? old_size : size;
    for (size_t i = 0; i < kept; ++i)
        static_cast<char*>(block)[i] = static_cast<char*>(old)[i];
    deallocate(old);
    return block;
}

[[noreturn]] void fail_assertion(const char* condition) {
    throw std::logic_error(condition);
}

}  // namespace

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS mini::data::kMaxImageSide
#define STBI_MALLOC(size) allocate(size)
#define STBI_REALLOC_SIZED(block, old_size, size) reallocate(block, old_size, size)
#define STBI_FREE(block) deallocate(block)
#define STBI_ASSERT(condition) \
    (static_cast<bool>(condition) ? void() : fail_assertion(#condition))
#include <stb/stb_image.h>

namespace mini::data {

Pixels decode_with_stb(std::span<const uint8_t> file, int channels, int64_t max_bytes) {
    Workspace space(static_cast<size_t>(max_bytes));
    Pixels pixels;
    pixels.channels = channels;
    try {
        int stored_channels = 0;
        const uint8_t* bytes = stbi_load_from_memory(
            file.data(), static_cast<int>(file.size()), &pixels.width, &pixels.height,
            &stored_channels, channels);
        if (bytes)
            pixels.bytes.assign(bytes, bytes + static_cast<size_t>(pixels.width) *
                                                   static_cast<size_t>(pixels.height) *
                                                   static_cast<size_t>(channels));
        else
            pixels.error = stbi_failure_reason() ? stbi_failure_reason() : "damaged data";
    } catch (const std::logic_error& failed) {
        pixels.error = failed.what();
    }
    pixels.needs_more = !pixels.error.empty() && space.is_full();
    return pixels;
}

}  // namespace mini::data
