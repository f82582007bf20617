#include "libmini/kernels/cuda/launch.hpp"

#include <limits>

namespace mini::cuda {

unsigned blocks(int64_t n, int64_t threads) {
    const int64_t count = ceil_div(n, threads);
    MINI_CHECK(count <= std::numeric_limits<int32_t>::max(), "kernel launch: ", n,
               " items in blocks of ", threads, " need ", count,
               " blocks, more than a grid can have");
    return static_cast<unsigned>(count);
}

}  // namespace mini::cuda
