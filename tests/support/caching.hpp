// Runs a test with or without the cache of the allocator of device memory.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/allocator.hpp"

namespace mini::test {

constexpr size_t kMiB = 1 << 20;

/// Turns the allocator's cache on or off until the end of the scope, which restores the
/// old setting. Empties the cache of device 0 at the start and at the end.
class Caching {
  public:
    explicit Caching(bool on) {
        cuda::set_caching(on);
        cuda::empty_cache(0);
    }
    ~Caching() {
        cuda::set_caching(old_);
        cuda::empty_cache(0);
    }
    Caching(const Caching&) = delete;
    Caching& operator=(const Caching&) = delete;

  private:
    bool old_ = cuda::caching();
};

}  // namespace mini::test
