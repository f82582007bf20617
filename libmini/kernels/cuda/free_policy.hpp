// How freed memory is treated by the allocator and by the cache of pinned memory.

#pragma once

namespace mini::cuda {

/// Whether this thread, when it frees memory, pinned memory too, leaves what CUDA may wait for
/// the device with to the next other thread that allocates, frees or empties: for threads that
/// others rely on while the device is stuck. Returns what was set before.
bool set_frees_later(bool on);
bool frees_later();

/// Whether freed blocks are kept; MINI_CUDA_CACHING says at first.
bool caching();
void set_caching(bool on);

}  // namespace mini::cuda
