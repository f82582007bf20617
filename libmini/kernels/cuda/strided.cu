// Copies between strided and contiguous order.
//
//     transposed, out (3, 2) of x (2, 3)     out   0  1 | 2  3 | 4  5
//                                            x     0  3 | 1  4 | 2  5
//
// Neighbouring threads take neighbouring elements of the contiguous side. Runs that are
// contiguous on both sides are cut into pieces of up to 16 bytes, which count as elements;
// what is contiguous as a whole is the driver's to copy.
// Traffic: each element is read once and written once.

#include <vector>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

enum class Way { kFromStrided, kToStrided };

template <Way kWay, typename Item, typename Index>
__global__ void copy_kernel(Item* out, const Item* x, Places<1, Index> places,
                            int64_t n) {
    for (int64_t i = thread_number(); i < n; i += thread_count()) {
        int64_t offset[1];
        places.find(static_cast<Index>(i), offset);
        if constexpr (kWay == Way::kFromStrided)
            out[i] = x[offset[0]];
        else
            out[offset[0]] = x[i];
    }
}

template <Way kWay, typename Item, typename Index>
void copy_items(std::byte* out, const std::byte* x, const cpu::StridedLoop<1>& loop,
                cudaStream_t stream) {
    const size_t dims = std::min(kMostDims, loop.dimensions().size());
    const auto places = places_of<Index>(loop, dims);
    for_each_part(loop, [&](int64_t n, int64_t first, const auto& offsets) {
        auto* to = reinterpret_cast<Item*>(out);
        const auto* from = reinterpret_cast<const Item*>(x);
        (kWay == Way::kFromStrided ? to += first : to += offsets[0]);
        (kWay == Way::kFromStrided ? from += offsets[0] : from += first);
        launch(copy_kernel<kWay, Item, Index>, grid_for(n), stream, to, from, places, n);
    });
}

template <Way kWay, typename Item>
void copy_with(std::byte* out, const std::byte* x, const cpu::StridedLoop<1>& loop,
               cudaStream_t stream) {
    int64_t n = 1;
    for (const auto& dimension : loop.dimensions()) n *= dimension.extent;
    if (is_small(n))
        copy_items<kWay, Item, uint32_t>(out, x, loop, stream);
    else
        copy_items<kWay, Item, uint64_t>(out, x, loop, stream);
}

// A copy as shape, strides and the bytes of an element, with the largest elements that the
// runs, the strides and the two pointers allow.
struct Layout {
    std::vector<int64_t> shape, strides;
    int64_t item_bytes;

    bool can_double(const std::byte* out, const std::byte* x) const {
        if (item_bytes >= 16 || shape.empty()) return false;
        const auto bytes = static_cast<uintptr_t>(2 * item_bytes);
        bool even = strides.back() == 1 && shape.back() % 2 == 0 &&
                    reinterpret_cast<uintptr_t>(out) % bytes == 0 &&
                    reinterpret_cast<uintptr_t>(x) % bytes == 0;
        for (size_t d = 0; d + 1 < strides.size(); ++d)
            even = even && strides[d] % 2 == 0;
        return even;
    }
    void double_items() {
        item_bytes *= 2;
        shape.back() /= 2;
        for (size_t d = 0; d + 1 < strides.size(); ++d) strides[d] /= 2;
    }
};

// Elements of a size that no load has are rows of bytes.
Layout layout_of(std::span<const int64_t> shape, std::span<const int64_t> strides,
                 int64_t item_bytes) {
    Layout layout{{shape.begin(), shape.end()}, {strides.begin(), strides.end()}, 1};
    const bool is_loadable =
        item_bytes == 1 || item_bytes == 2 || item_bytes == 4 || item_bytes == 8;
    if (is_loadable) {
        layout.item_bytes = item_bytes;
        return layout;
    }
    for (int64_t& stride : layout.strides) stride *= item_bytes;
    layout.shape.push_back(item_bytes);
    layout.strides.push_back(1);
    return layout;
}

// The shape and strides with neighbouring dimensions merged, outermost first.
Layout merged(const Layout& layout) {
    const cpu::StridedLoop<1> loop(layout.shape, {layout.strides});
    Layout result{{}, {}, layout.item_bytes};
    for (size_t d = loop.dimensions().size(); d-- > 0;) {
        result.shape.push_back(loop.dimensions()[d].extent);
        result.strides.push_back(loop.dimensions()[d].strides[0]);
    }
    return result;
}

template <Way kWay>
void copy(std::byte* out, const std::byte* x, Layout layout, cudaStream_t stream) {
    for (const int64_t extent : layout.shape)
        if (extent == 0) return;
    layout = merged(layout);
    if (layout.shape.size() == 1 && (layout.shape[0] == 1 || layout.strides[0] == 1)) {
        const int64_t bytes = layout.shape[0] * layout.item_bytes;
        return mini::cuda::copy(out, x, static_cast<size_t>(bytes), stream);
    }
    while (layout.can_double(out, x)) layout.double_items();
    const cpu::StridedLoop<1> loop(layout.shape, {layout.strides});
    switch (layout.item_bytes) {
        case 1: return copy_with<kWay, uint8_t>(out, x, loop, stream);
        case 2: return copy_with<kWay, uint16_t>(out, x, loop, stream);
        case 4: return copy_with<kWay, uint32_t>(out, x, loop, stream);
        case 8: return copy_with<kWay, uint64_t>(out, x, loop, stream);
        default: return copy_with<kWay, Pack<uint32_t, 4>>(out, x, loop, stream);
    }
}

}  // namespace

void copy_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t item_bytes,
                  cudaStream_t stream) {
    copy<Way::kFromStrided>(out, x, layout_of(shape, strides, item_bytes), stream);
}

void copy_to_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                     std::span<const int64_t> strides, int64_t item_bytes,
                     cudaStream_t stream) {
    copy<Way::kToStrided>(out, x, layout_of(shape, strides, item_bytes), stream);
}

}  // namespace mini::kernels::cuda
