// Where storages get their bytes.
//
// A training step asks for the same large buffers again and again. Handing them back to
// the system each time costs a page fault for every 4 KiB of the next one, so freed
// buffers of 64 KiB and more are kept and given out again for requests of the same
// size. Builds with a sanitizer keep nothing, so that a use after free is seen.

#pragma once

#include <cstddef>

namespace mini {

/// `bytes` bytes at a multiple of 64, contents unspecified; null for 0. Throws Error
/// naming the size when there is no memory. Thread-safe.
std::byte* allocate_buffer(size_t bytes);

/// Gives back what allocate_buffer(bytes) returned. Thread-safe.
void free_buffer(std::byte* data, size_t bytes) noexcept;

/// Bytes that are kept for later, and returning them to the system
/// (`torch.cuda.empty_cache`).
size_t cached_bytes();
void empty_buffer_cache();

}  // namespace mini
