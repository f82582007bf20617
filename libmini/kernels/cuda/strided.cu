// Copies between strided and contiguous order: a thread copies one item at a time.
//
//     transposed, out (3, 2) of x (2, 3)     out   0  1 | 2  3 | 4  5
//                                            x     0  3 | 1  4 | 2  5
//
// Adjacent threads take adjacent items of the contiguous side. On the other side the items
// may be far apart, as in this transpose, and then each costs a sector of 32 bytes. A copy
// that is contiguous as a whole is done by the driver.

#include <cstddef>
#include <cstdint>
#include <span>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
namespace {

enum class Direction { kFromStrided, kToStrided };

// Copies item i, which is at i on the contiguous side.
template <Direction kDirection, typename Item>
struct CopyItem {
    Item* out;
    const Item* x;
    OffsetCalculator<1> calculator;

    __device__ void operator()(int64_t i) const {
        int64_t offset[1];
        calculator.find(i, offset);
        if constexpr (kDirection == Direction::kFromStrided)
            out[i] = x[offset[0]];
        else
            out[offset[0]] = x[i];
    }
};

template <Direction kDirection, typename Item>
void copy_items(std::byte* out, const std::byte* x, const cpu::StridedLoop<1>& loop,
                cudaStream_t stream) {
    each(CopyItem<kDirection, Item>{reinterpret_cast<Item*>(out),
                                    reinterpret_cast<const Item*>(x),
                                    OffsetCalculator<1>(loop)},
         loop.size(), stream);
}

template <Direction kDirection>
void copy(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
          std::span<const int64_t> strides, int64_t item_bytes, cudaStream_t stream) {
    const cpu::StridedLoop<1> loop(shape, {strides});
    if (loop.size() == 0) return;
    if (loop.dimensions().size() == 1 && (loop.size() == 1 || loop.steps()[0] == 1)) {
        const auto bytes = static_cast<size_t>(loop.size() * item_bytes);
        return mini::cuda::copy(out, x, bytes, stream);
    }
    switch (item_bytes) {
        case 1: return copy_items<kDirection, uint8_t>(out, x, loop, stream);
        case 2: return copy_items<kDirection, uint16_t>(out, x, loop, stream);
        case 4: return copy_items<kDirection, uint32_t>(out, x, loop, stream);
        case 8: return copy_items<kDirection, uint64_t>(out, x, loop, stream);
    }
    throw Error("a GPU copies no items of ", item_bytes, " bytes");
}

}  // namespace

void copy_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t item_bytes,
                  cudaStream_t stream) {
    copy<Direction::kFromStrided>(out, x, shape, strides, item_bytes, stream);
}

void copy_to_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                     std::span<const int64_t> strides, int64_t item_bytes,
                     cudaStream_t stream) {
    copy<Direction::kToStrided>(out, x, shape, strides, item_bytes, stream);
}

}  // namespace mini::kernels::cuda
