// Copies between strided and contiguous order.
//
//     transposed, out (3, 2) of x (2, 3)     out   0  1 | 2  3 | 4  5
//                                            x     0  3 | 1  4 | 2  5
//
// Adjacent threads take adjacent elements of the contiguous side. Runs that are
// contiguous on both sides are split into pieces of up to 16 bytes, which are treated as
// elements; a copy that is contiguous as a whole is done by the driver.
//
// In a transpose, adjacent elements of one side are far apart on the other side, so each
// element would cost a sector of 32 bytes. Instead, a block reads a square tile into
// shared memory along one side, and writes the tile along the other side:
//
//     read    rows of x        tile  0 1 2    write    rows of out, columns of the tile
//             0 1 2 | ...            3 4 5             0 3 6 | ...
//
// Traffic: each element is read once and written once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/strides.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::ceil_div;
using mini::cuda::launch;

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

constexpr int kTile = 32;
constexpr int kTileRows = 8;  // rows of threads; a thread moves four elements of a tile

// A transpose of dimensions a and b: elements along a are adjacent in x, elements along b
// are adjacent in out.
struct Transpose {
    int64_t extent_a, extent_b;
    int64_t x_stride, out_stride;  // of b in x, and of a in out
    Divider tiles_a, tiles_b;      // numbers of tiles
    OffsetCalculator<2> others;    // of the other dimensions, in x and in out
    int64_t tiles;
};

// Launch with one block per tile.
template <typename Item>
__global__ void transpose_kernel(Item* out, const Item* x, Transpose job) {
    // Padding puts the items of a column in different banks, for any item size.
    constexpr int kPad = sizeof(Item) < 4 ? 4 / sizeof(Item) : 1;
    __shared__ Item tile[kTile][kTile + kPad];
    const auto [row, tile_b] = job.tiles_b.divide(blockIdx.x);
    const auto [other, tile_a] = job.tiles_a.divide(row);
    const int64_t a = tile_a * kTile, b = tile_b * kTile;
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

// Returns the copy as a Transpose; std::nullopt if it is not a transpose, or if its runs
// are shorter than half a row of a tile.
template <Direction kDirection>
std::optional<Transpose> find_transpose(const cpu::StridedLoop<1>& loop) {
    const auto& dimensions = loop.dimensions();
    if (dimensions.empty() || dimensions.size() > kMaxDims) return std::nullopt;
    constexpr int64_t kMinRun = kTile / 2;
    const auto is_run = [&](const auto& d) {
        return d.strides[0] == 1 && d.extent >= kMinRun;
    };
    const auto run = std::find_if(dimensions.begin() + 1, dimensions.end(), is_run);
    const auto& row = dimensions.front();  // contiguous on the other side
    if (run == dimensions.end() || row.extent < kMinRun || row.strides[0] <= 1)
        return std::nullopt;

    constexpr size_t kStrided =
        kDirection == Direction::kFromStrided ? 0 : 1;  // x or out
    Transpose job{};
    job.tiles = 1;
    int64_t contiguous = 1, run_stride = 0;
    for (auto d = dimensions.begin(); d != dimensions.end(); ++d) {
        if (d == run) {
            run_stride = contiguous;
        } else if (d != dimensions.begin()) {
            const size_t dim = job.others.dims++;
            job.others.extents[dim] = Divider(d->extent);
            job.others.strides[dim][kStrided] = d->strides[0];
            job.others.strides[dim][1 - kStrided] = contiguous;
            job.tiles *= d->extent;
        }
        contiguous *= d->extent;
    }
    job.extent_a = run->extent;
    job.extent_b = row.extent;
    job.x_stride = row.strides[0];
    job.out_stride = run_stride;
    if constexpr (kDirection == Direction::kToStrided) {
        std::swap(job.extent_a, job.extent_b);
        std::swap(job.x_stride, job.out_stride);
    }
    const int64_t tiles_a = ceil_div(job.extent_a, kTile);
    const int64_t tiles_b = ceil_div(job.extent_b, kTile);
    job.tiles *= tiles_a * tiles_b;
    job.tiles_a = Divider(tiles_a);
    job.tiles_b = Divider(tiles_b);
    return job.tiles <= Divider::kMaxFast ? std::optional(job) : std::nullopt;
}

template <Direction kDirection, typename Item>
void copy_with(std::byte* out, const std::byte* x, const cpu::StridedLoop<1>& loop,
               cudaStream_t stream) {
    if (const auto transpose = find_transpose<kDirection>(loop)) {
        const auto tiles = static_cast<unsigned>(transpose->tiles);
        return launch(transpose_kernel<Item>,
                      {.grid = tiles, .block = dim3(kTile, kTileRows)}, stream,
                      reinterpret_cast<Item*>(out), reinterpret_cast<const Item*>(x),
                      *transpose);
    }
    each(CopyItem<kDirection, Item>{reinterpret_cast<Item*>(out),
                                    reinterpret_cast<const Item*>(x),
                                    OffsetCalculator<1>(loop)},
         loop.size(), stream);
}

// The shape, strides and element size of a copy. double_items() doubles the element size
// if the runs, the strides and the two pointers allow it (can_double).
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

// Returns the layout of a copy. If no load instruction has the size of an element, each
// element is treated as a row of bytes.
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

// Returns the layout with adjacent dimensions merged, outermost first.
Layout merged(const Layout& layout) {
    const cpu::StridedLoop<1> loop(layout.shape, {layout.strides});
    Layout result{{}, {}, layout.item_bytes};
    for (size_t d = loop.dimensions().size(); d-- > 0;) {
        result.shape.push_back(loop.dimensions()[d].extent);
        result.strides.push_back(loop.dimensions()[d].strides[0]);
    }
    return result;
}

template <Direction kDirection>
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
        case 1: return copy_with<kDirection, uint8_t>(out, x, loop, stream);
        case 2: return copy_with<kDirection, uint16_t>(out, x, loop, stream);
        case 4: return copy_with<kDirection, uint32_t>(out, x, loop, stream);
        case 8: return copy_with<kDirection, uint64_t>(out, x, loop, stream);
        default: return copy_with<kDirection, Pack<uint32_t, 4>>(out, x, loop, stream);
    }
}

}  // namespace

void copy_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t item_bytes,
                  cudaStream_t stream) {
    copy<Direction::kFromStrided>(out, x, layout_of(shape, strides, item_bytes), stream);
}

void copy_to_strided(std::byte* out, const std::byte* x, std::span<const int64_t> shape,
                     std::span<const int64_t> strides, int64_t item_bytes,
                     cudaStream_t stream) {
    copy<Direction::kToStrided>(out, x, layout_of(shape, strides, item_bytes), stream);
}

}  // namespace mini::kernels::cuda
