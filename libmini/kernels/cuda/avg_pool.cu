// Average pooling. A thread computes one result at a time, in a grid-stride loop:
//
//     forward    one output    the average of its rectangle, a row span x a column span
//     backward   one input     the sum of g / divisor over all rectangles that contain it
//
// The sums have the order of the CPU's, so the results are bitwise identical.

#include "libmini/kernels/cuda/each.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/scratch.hpp"

namespace mini::kernels::cuda {
namespace {

using mini::cuda::launch;

// The spans of one axis, in device memory. Does not block: they are copied from pinned
// memory, which may be freed before the copy is done.
class DeviceSpans {
  public:
    DeviceSpans(std::span<const PoolSpan> spans, cudaStream_t stream)
        : memory_(static_cast<int64_t>(spans.size()), stream) {
        if (spans.empty()) return;
        void* const pinned = mini::cuda::allocate_pinned(spans.size_bytes());
        std::memcpy(pinned, spans.data(), spans.size_bytes());
        mini::cuda::copy(memory_.get(), pinned, spans.size_bytes(), stream);
        mini::cuda::deallocate(pinned);
    }
    const PoolSpan* get() const { return memory_.get(); }

  private:
    Scratch<PoolSpan> memory_;
};

// Planes of H x W elements pooled to Ho x Wo.
struct Averaging {
    int64_t H, W, Ho, Wo;
    const PoolSpan *rows, *cols;  // (Ho) and (Wo)

    __device__ float divisor(int64_t i, int64_t j) const {
        return static_cast<float>(rows[i].count * cols[j].count);
    }
};

__global__ void avg_pool_kernel(float* y,        // (planes, Ho, Wo)
                                const float* x,  // (planes, H, W)
                                Averaging pool, int64_t n) {
    for (int64_t k = thread_number(); k < n; k += thread_count()) {
        const int64_t j = k % pool.Wo, i = k / pool.Wo % pool.Ho;
        const float* from = x + k / pool.Wo / pool.Ho * pool.H * pool.W;
        const PoolSpan rows = pool.rows[i], cols = pool.cols[j];

        float total = 0.0f;
        for (int64_t h = rows.begin; h < rows.end; ++h)
            for (int64_t w = cols.begin; w < cols.end; ++w) total += from[h * pool.W + w];
        y[k] = total / pool.divisor(i, j);
    }
}

__device__ bool contains(const PoolSpan& span, int64_t place) {
    return place >= span.begin && place < span.end;
}

__global__ void avg_pool_backward_kernel(float* dx,       // (planes, H, W)
                                         const float* g,  // (planes, Ho, Wo)
                                         Averaging pool, int64_t n) {
    for (int64_t k = thread_number(); k < n; k += thread_count()) {
        const int64_t w = k % pool.W, h = k / pool.W % pool.H;
        const float* grad = g + k / pool.W / pool.H * pool.Ho * pool.Wo;

        float total = 0.0f;
        for (int64_t i = 0; i < pool.Ho; ++i) {
            if (!contains(pool.rows[i], h)) continue;
            for (int64_t j = 0; j < pool.Wo; ++j)
                if (contains(pool.cols[j], w))
                    total += grad[i * pool.Wo + j] / pool.divisor(i, j);
        }
        dx[k] = total;
    }
}

// Calls body(pool) with the spans in device memory.
template <typename Body>
void with_spans(const ImageExtents& in, std::span<const PoolSpan> rows,
                std::span<const PoolSpan> cols, cudaStream_t stream, const Body& body) {
    const DeviceSpans device_rows(rows, stream), device_cols(cols, stream);
    body(Averaging{.H = in.H,
                   .W = in.W,
                   .Ho = static_cast<int64_t>(rows.size()),
                   .Wo = static_cast<int64_t>(cols.size()),
                   .rows = device_rows.get(),
                   .cols = device_cols.get()});
}

}  // namespace

void avg_pool2d(float* y, const float* x, ImageExtents in, std::span<const PoolSpan> rows,
                std::span<const PoolSpan> cols, cudaStream_t stream) {
    with_spans(in, rows, cols, stream, [&](const Averaging& pool) {
        const int64_t n = in.N * in.C * pool.Ho * pool.Wo;
        launch(avg_pool_kernel, grid_for(n), stream, y, x, pool, n);
    });
}

void avg_pool2d_backward(float* dx, const float* g, ImageExtents in,
                         std::span<const PoolSpan> rows, std::span<const PoolSpan> cols,
                         cudaStream_t stream) {
    with_spans(in, rows, cols, stream, [&](const Averaging& pool) {
        const int64_t n = in.N * in.C * in.H * in.W;
        launch(avg_pool_backward_kernel, grid_for(n), stream, dx, g, pool, n);
    });
}

}  // namespace mini::kernels::cuda
