// A caching allocator for the CPU memory of storages.
//
// Every training step allocates buffers of the same sizes. If a step returned its large
// buffers to the system, the next step would cost a page fault for every 4 KiB. So freed
// buffers, up to 512 MiB in all, are cached and reused for requests of the same size:
// after a few steps, a training loop allocates no buffer. Builds with a sanitizer cache
// no buffers, so that the sanitizer detects a use after free.
//
//     size     64     128    ...    4096    8192    ...
//              |       |             |       |
//     free     [ ]    [ ]           [ ]     [ ]
//              |                             |
//              [ ]                          [ ]

#pragma once

#include <cstddef>

namespace mini {

/// Allocates `bytes` bytes, aligned to 64 bytes, contents unspecified; returns null for
/// 0. Throws Error, naming the size, when memory is exhausted. Thread-safe.
std::byte* allocate_buffer(size_t bytes);

/// Frees a buffer that allocate_buffer(bytes) returned. Thread-safe.
void free_buffer(std::byte* data, size_t bytes) noexcept;

/// Adds `bytes` bytes that a storage has from elsewhere to allocated_bytes(), or subtracts
/// them when it frees them. Thread-safe.
void count_allocated(size_t bytes) noexcept;
void count_freed(size_t bytes) noexcept;

/// Returns the number of bytes in buffers that are in use in this process, each rounded
/// up to a multiple of 64 (`torch.cuda.memory_allocated`, for the CPU).
size_t allocated_bytes();

/// Returns the highest value of allocated_bytes() since the start of the process or the
/// last reset_peak_bytes() (`torch.cuda.max_memory_allocated`).
size_t max_allocated_bytes();

/// Sets max_allocated_bytes() to allocated_bytes()
/// (`torch.cuda.reset_peak_memory_stats`).
void reset_peak_bytes();

/// Returns all cached buffers to the system (as `torch.cuda.empty_cache` does for a GPU).
void empty_buffer_cache();

}  // namespace mini
