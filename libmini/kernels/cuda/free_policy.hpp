// How the allocator and the cache of pinned memory treat freed memory.

#pragma once

namespace mini::cuda {

/// Sets whether this thread postpones frees (also of pinned memory) during which CUDA may
/// wait for the device. Returns the previous setting. The next thread without this
/// setting that allocates memory, frees memory or empties the cache carries out the
/// postponed frees. Use it in threads that must not block while the device hangs.
bool set_frees_later(bool on);

/// Returns whether this thread postpones such frees.
bool frees_later();

/// Returns whether freed blocks are cached. The default is set by MINI_CUDA_CACHING.
bool caching();

/// Sets whether freed blocks are cached.
void set_caching(bool on);

}  // namespace mini::cuda
