// The fifth rung, our fastest in float32: a block computes 128 x 128 elements, a thread
// 8 x 8. The copies for later steps along K run while the current step is computed.
// "start 3" starts the copies for step 3:
//
//     stage of shared memory    0         1         2         3
//     step 0                    compute   in flight in flight start 3
//     step 1                    start 4   compute   in flight in flight
//     step 2                    in flight start 5   compute   in flight
//
// __pipeline_memcpy_async copies from global to shared memory asynchronously from compute
// capability 8.0 on (cp.async); on older devices it is a load and a store. There is one
// barrier per step.
//
// The 8 warps of a block are arranged 4 x 2 over its tile. A lane takes 2 x 2 squares of
// 4 x 4:
//
//     warp, 32 x 64      lanes 0..7  |  0..7      for each k: 2 float4 of a, 2 of b, and
//     (of the upper      lanes 8..15 |  8..15     64 products: 1/16 read of shared memory
//     left square)       16..23, 24..31           per product. 8 lanes read 8 adjacent
//                        ------------+-------     float4 from all 32 banks; the other
//                        again       |  again     lanes read the same addresses
//
// Traffic: 2 K floats per 128 elements, 1/128 of the naive rung's. The sizes of the tiles
// are those of NVIDIA's CUTLASS for float32; CUTLASS numbers the lanes in another order.

#include <cstddef>
#include <cstdint>

#include <cuda_pipeline.h>

#include "libmini/kernels/cuda/matmul_device.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

constexpr int kTile = 128;
constexpr int kDepth = 8;  // of a step along K
constexpr int kStages = 4;
constexpr int kThreads = 256;
constexpr int kWarpRows = 32, kWarpCols = 64;
constexpr int kPitch = kTile + 4;  // 8 lanes with adjacent k write to different banks

// One stage of a or b, with K as the first index: element (row, k) of a is at [k][row].
using Panel = float[kDepth][kPitch];

// The layout of one operand in global memory.
enum class Layout {
    kAlongK,        // adjacent along K: copied one by one, into a column
    kAcross,        // adjacent along the rows of a, or the columns of b
    kAcrossVector,  // the same, in whole aligned float4
};

// One operand: element (x, k) is at data[x * pitch + k] for kAlongK, else at
// data[k * pitch + x].
struct Operand {
    const float* data;
    int64_t extent, depth, pitch;
};

struct Job {
    Product product;
    Operand a, b;
    bool vector_out;  // rows of out begin at multiples of 16 bytes
};

// Copies this thread's elements of one operand, panel after panel along K.
template <Layout kLayout>
class Feed {
    static constexpr bool kAlong = kLayout == Layout::kAlongK;
    static constexpr int kFloats = kLayout == Layout::kAcrossVector ? 4 : 1;
    static constexpr int kSide = kAlong ? kDepth : kTile / kFloats;  // threads per row
    static constexpr int kDown = kThreads / kSide;                   // rows per round
    static constexpr int kRounds = kTile * kDepth / kFloats / kThreads;

  public:
    /// Prepares to copy the panels that begin at `first` along the operand's extent.
    __device__ Feed(const Operand& from, int64_t first) {
        const int side = static_cast<int>(threadIdx.x) % kSide * kFloats;
        const int down = static_cast<int>(threadIdx.x) / kSide;
        x_ = kAlong ? down : side;
        k_ = kAlong ? side : down;
        const int64_t x = first + x_;
        next_ = from.data + (kAlong ? x * from.pitch + k_ : k_ * from.pitch + x);
        pitch_ = from.pitch;
        extent_left_ = static_cast<int>(min(from.extent - x, int64_t{kTile}));
    }

    /// Starts copying the next panel, of which `depth_left` steps of K lie inside the
    /// operand. Past the edges it writes zeros and reads nothing.
    __device__ void start_copy(Panel& panel, int depth_left) {
#pragma unroll
        for (int round = 0; round < kRounds; ++round) {
            const int down = round * kDown;
            const bool inside = kAlong ? down < extent_left_ && k_ < depth_left
                                       : 0 < extent_left_ && k_ + down < depth_left;
            float* const to = kAlong ? &panel[k_][x_ + down] : &panel[k_ + down][x_];
            constexpr size_t kBytes = kFloats * sizeof(float);
            __pipeline_memcpy_async(to, next_ + down * pitch_, kBytes,
                                    inside ? 0 : kBytes);
        }
        next_ += kAlong ? kDepth : kDepth * pitch_;
    }

  private:
    int x_, k_;  // of this thread's first float of a panel
    const float* next_;
    int64_t pitch_;
    int extent_left_;  // of the operand from x_ on, at most a tile
};

// The position of a thread's upper left square in its block's tile. The other squares are
// half a warp's tile to the right and below.
struct Place {
    int row, col;
};

__device__ Place place_of(int thread) {
    const int warp = thread / 32, lane = thread % 32;
    return {warp / 2 * kWarpRows + lane / 8 * 4, warp % 2 * kWarpCols + lane % 8 * 4};
}

__device__ void load_eight(float (&eight)[8], const float* near, int distance) {
    const float4 low = *reinterpret_cast<const float4*>(near);
    const float4 high = *reinterpret_cast<const float4*>(near + distance);
    eight[0] = low.x, eight[1] = low.y, eight[2] = low.z, eight[3] = low.w;
    eight[4] = high.x, eight[5] = high.y, eight[6] = high.z, eight[7] = high.w;
}

__device__ void multiply(float (&total)[8][8], const Panel& a_panel, const Panel& b_panel,
                         Place place) {
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
        float a[8], b[8];
        load_eight(a, &a_panel[k][place.row], kWarpRows / 2);
        load_eight(b, &b_panel[k][place.col], kWarpCols / 2);
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j) total[i][j] += a[i] * b[j];
    }
}

template <Layout kA, Layout kB>
__global__ void __launch_bounds__(kThreads, 2) pipelined_kernel(Job job) {
    __align__(16) __shared__ float a_stages[kStages][kDepth][kPitch];
    __align__(16) __shared__ float b_stages[kStages][kDepth][kPitch];
    const Corner corner = tile_corner<kTile, kTile>(job.product);
    const Place place = place_of(static_cast<int>(threadIdx.x));
    Feed<kA> a_feed(job.a, corner.row);
    Feed<kB> b_feed(job.b, corner.col);
    int64_t depth_left = job.a.depth;  // of the panels that are not yet copied
    const auto start_stage = [&](int stage) {
        const auto depth = static_cast<int>(min(depth_left, int64_t{kDepth}));
        a_feed.start_copy(a_stages[stage], depth);
        b_feed.start_copy(b_stages[stage], depth);
        depth_left -= kDepth;
        __pipeline_commit();
    };

    // Start copying all stages but one. Stages past the end of K are filled with zeros,
    // which do not change the sums.
    for (int stage = 0; stage < kStages - 1; ++stage) start_stage(stage);

    float total[8][8] = {};
    const int steps = static_cast<int>(ceil_div(job.a.depth, kDepth));
    for (int step = 0; step < steps; ++step) {
        // Wait for the copies of this step; the copies of the next kStages - 2 steps may
        // still be in flight.
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();

        // All threads are done with the previous step: start the next copy into the
        // stage of that step.
        start_stage((step + kStages - 1) % kStages);
        multiply(total, a_stages[step % kStages], b_stages[step % kStages], place);
    }
    __pipeline_wait_prior(0);  // a thread must not exit before its copies have landed

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int64_t row = corner.row + place.row + i % 4 + i / 4 * (kWarpRows / 2);
        const int64_t col = corner.col + place.col;
        write_four(job.product, row, col, &total[i][0], job.vector_out);
        write_four(job.product, row, col + kWarpCols / 2, &total[i][4], job.vector_out);
    }
}

Layout layout_of(const Operand& operand, bool along_k) {
    if (along_k) return Layout::kAlongK;
    return rows_of_float4(operand.data, operand.pitch) ? Layout::kAcrossVector
                                                       : Layout::kAcross;
}

template <Layout kA, Layout kB>
void start(const Job& job, cudaStream_t stream) {
    launch(pipelined_kernel<kA, kB>,
           {.grid = tile_count<kTile, kTile>(job.product), .block = kThreads}, stream,
           job);
}

template <Layout kA>
void start_with_b(const Job& job, Layout b, cudaStream_t stream) {
    if (b == Layout::kAlongK) return start<kA, Layout::kAlongK>(job, stream);
    if (b == Layout::kAcross) return start<kA, Layout::kAcross>(job, stream);
    start<kA, Layout::kAcrossVector>(job, stream);
}

}  // namespace

void matmul_pipelined(const Product& p, cudaStream_t stream) {
    const bool a_along_k = p.a.col_step == 1, b_along_k = p.b.row_step == 1;
    const Job job = {
        .product = p,
        .a = {p.a.data, p.a.rows, p.a.cols, a_along_k ? p.a.row_step : p.a.col_step},
        .b = {p.b.data, p.b.cols, p.b.rows, b_along_k ? p.b.col_step : p.b.row_step},
        .vector_out = rows_of_float4(p.out, p.b.cols),
    };
    const Layout a = layout_of(job.a, a_along_k), b = layout_of(job.b, b_along_k);
    if (a == Layout::kAlongK) return start_with_b<Layout::kAlongK>(job, b, stream);
    if (a == Layout::kAcross) return start_with_b<Layout::kAcross>(job, b, stream);
    start_with_b<Layout::kAcrossVector>(job, b, stream);
}

}  // namespace mini::kernels::cuda
