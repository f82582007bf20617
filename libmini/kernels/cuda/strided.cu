// Copies between strided and contiguous order.
//
//     transposed, out (3, 2) of x (2, 3)     out   0  1 | 2  3 | 4  5
//                                            x     0  3 | 1  4 | 2  5
//
// Neighbouring threads take neighbouring elements of the contiguous side. Runs that are
// contiguous on both sides are cut into pieces of up to 16 bytes, which count as elements;
// what is contiguous as a whole is the driver's to copy.
//
// In a transpose, neighbours on one side are far apart on the other, and a sector of 32 bytes
// would be fetched for each element. So a block brings a square tile to shared memory along
// the one side and takes it from there along the other:
//
//     read     rows of x          tile  0 1 2      write    rows of out, columns of the tile
//              0 1 2 | ...              3 4 5               0 3 6 | ...
//
// Traffic: each element is read once and written once.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::ceil_div;
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

constexpr int kTile = 32;
constexpr int kTileRows = 8;  // of threads: each moves four elements of a tile

// A transpose of dimension a, whose elements are neighbours in x, with b, whose are in out.
struct Transpose {
    int64_t extent_a, extent_b;
    int64_t x_stride, out_stride;        // of b, and of a
    Divider<uint32_t> tiles_a, tiles_b;  // how many there are
    Places<2, uint32_t> others;          // of the other dimensions, in x and in out
    int64_t tiles;
};

// A block a tile.
template <typename Item>
__global__ void transpose_kernel(Item* out, const Item* x, Transpose job) {
    // A column's items lie in different banks, however wide they are.
    constexpr int kPad = sizeof(Item) < 4 ? 4 / sizeof(Item) : 1;
    __shared__ Item tile[kTile][kTile + kPad];
    const uint32_t row = job.tiles_b.quotient(blockIdx.x);
    const uint32_t other = job.tiles_a.quotient(row);
    const int64_t b = int64_t{blockIdx.x - row * job.tiles_b.divisor} * kTile;
    const int64_t a = int64_t{row - other * job.tiles_a.divisor} * kTile;
    int64_t offsets[2];
    job.others.find(other, offsets);

    const int lane = threadIdx.x;
    for (int k = threadIdx.y; k < kTile; k += kTileRows)
        if (a + lane < job.extent_a && b + k < job.extent_b)
            tile[k][lane] = x[offsets[0] + (b + k) * job.x_stride + a + lane];
    __syncthreads();
    for (int k = threadIdx.y; k < kTile; k += kTileRows)
        if (a + k < job.extent_a && b + lane < job.extent_b)
            out[offsets[1] + (a + k) * job.out_stride + b + lane] = tile[lane][k];
}

// The transpose that a copy is, if it is one and its runs fill half a row of a tile.
template <Way kWay>
std::optional<Transpose> find_transpose(const cpu::StridedLoop<1>& loop) {
    const auto& dimensions = loop.dimensions();
    if (dimensions.empty() || dimensions.size() > kMostDims) return std::nullopt;
    constexpr int64_t kLeast = kTile / 2;
    const auto is_run = [&](const auto& d) {
        return d.strides[0] == 1 && d.extent >= kLeast;
    };
    const auto run = std::find_if(dimensions.begin() + 1, dimensions.end(), is_run);
    const auto& row = dimensions.front();  // contiguous on the other side
    if (run == dimensions.end() || row.extent < kLeast || row.strides[0] <= 1)
        return std::nullopt;

    constexpr size_t kStrided = kWay == Way::kFromStrided ? 0 : 1;  // x or out
    Transpose job{};
    job.tiles = 1;
    int64_t contiguous = 1, run_stride = 0;
    for (auto d = dimensions.begin(); d != dimensions.end(); ++d) {
        if (d == run) {
            run_stride = contiguous;
        } else if (d != dimensions.begin()) {
            const size_t place = job.others.dims++;
            job.others.extents[place] = Divider<uint32_t>(d->extent);
            job.others.strides[place][kStrided] = d->strides[0];
            job.others.strides[place][1 - kStrided] = contiguous;
            job.tiles *= d->extent;
        }
        contiguous *= d->extent;
    }
    job.extent_a = run->extent;
    job.extent_b = row.extent;
    job.x_stride = row.strides[0];
    job.out_stride = run_stride;
    if constexpr (kWay == Way::kToStrided) {
        std::swap(job.extent_a, job.extent_b);
        std::swap(job.x_stride, job.out_stride);
    }
    const int64_t tiles_a = ceil_div(job.extent_a, kTile);
    const int64_t tiles_b = ceil_div(job.extent_b, kTile);
    job.tiles *= tiles_a * tiles_b;
    job.tiles_a = Divider<uint32_t>(tiles_a);
    job.tiles_b = Divider<uint32_t>(tiles_b);
    return is_small(job.tiles) ? std::optional(job) : std::nullopt;
}

template <Way kWay, typename Item>
void copy_with(std::byte* out, const std::byte* x, const cpu::StridedLoop<1>& loop,
               cudaStream_t stream) {
    if (const auto transpose = find_transpose<kWay>(loop)) {
        const auto tiles = static_cast<unsigned>(transpose->tiles);
        return launch(transpose_kernel<Item>,
                      {.grid = tiles, .block = dim3(kTile, kTileRows)}, stream,
                      reinterpret_cast<Item*>(out), reinterpret_cast<const Item*>(x),
                      *transpose);
    }
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
