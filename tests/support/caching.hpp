// Device memory with or without its cache.

#pragma once

#include <cstddef>

#include "libmini/kernels/cuda/allocator.hpp"

namespace mini::test {

constexpr size_t kMiB = 1 << 20;

/// Whether the allocator caches, until the end of the scope. Nothing is kept on device 0 at its
/// begin and its end.
class Caching {
  public:
    explicit Caching(bool on) {
        cuda::set_caching(on);
        cuda::empty_cache(0);
    }
    ~Caching() {
        cuda::set_caching(before_);
        cuda::empty_cache(0);
    }
    Caching(const Caching&) = delete;
    Caching& operator=(const Caching&) = delete;

  private:
    bool before_ = cuda::caching();
};

}  // namespace mini::test
