// A transposed copy, in tiles of 64 x 64 that fit in the first-level cache.
//
//     x, rows             buffer              out, columns
//     a0 a1 .. a63        a0 b0 .. n0         a0 b0 .. n0
//     b0 b1 .. b63   ->   a1 b1 .. n1    ->   a1 b1 .. n1
//     ...                 ...                 ...
//
// A loop over elements reads or writes one element per cache line, at addresses that are
// a power of two apart for common extents, so that few lines of the cache are used. A tile
// reads and writes 4 whole lines in a row. The rows of the buffer are 16 elements longer
// than the tile, because otherwise 8 of its rows would share the same lines of the cache.
// Within a tile, blocks of 8 x 8 are transposed in registers. Tiles follow one another
// along the rows of x, so that the processor prefetches the rows.

#include "libmini/extras/fast/transpose.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libmini/core/parallel.hpp"
#include "libmini/extras/fast/transpose_block.hpp"
#include "libmini/extras/fast/vector.hpp"
#include "libmini/kernels/cpu/strided.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace mini::kernels::cpu {
namespace {

// Stores a vector without reading its cache line first; REQUIRES: `to` is aligned to 32
// bytes. finish_streams makes the stores visible to threads that synchronise later.
#if defined(__AVX__)
void stream(float* to, Vector v) { _mm256_stream_ps(to, v); }
void finish_streams() { _mm_sfence(); }
#else
void stream(float* to, Vector v) { store(to, v); }
void finish_streams() {}
#endif

constexpr int64_t kTile = 64, kBlock = kLanes;
constexpr int64_t kBufferStep = kTile + 16;

// Transposes at most 64 x 64 elements into the buffer, in blocks where there are 8 x 8.
void transpose_tile(float* buffer, const float* x, int64_t x_step, int64_t rows,
                    int64_t columns) {
    const int64_t block_rows = rows / kBlock * kBlock;
    const int64_t block_columns = columns / kBlock * kBlock;
    for (int64_t i = 0; i < block_rows; i += kBlock)
        for (int64_t j = 0; j < block_columns; j += kBlock)
            transpose_block(buffer + j * kBufferStep + i, kBufferStep, x + i * x_step + j,
                            x_step);
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = i < block_rows ? block_columns : 0; j < columns; ++j)
            std::memcpy(buffer + j * kBufferStep + i, x + i * x_step + j, sizeof(float));
}

// Copies a transposed tile from the buffer to `width` rows of `height` elements.
void store_tile(float* out, int64_t out_step, const float* buffer, int64_t width,
                int64_t height) {
    for (int64_t k = 0; k < width; ++k)
        std::memcpy(out + k * out_step, buffer + k * kBufferStep,
                    static_cast<size_t>(height) * sizeof(float));
}

// Does the same with streamed stores. REQUIRES: all rows of `out` are aligned to vectors.
void stream_tile(float* out, int64_t out_step, const float* buffer, int64_t width,
                 int64_t height) {
    const int64_t vectors = height / kLanes * kLanes;
    for (int64_t k = 0; k < width; ++k)
        for (int64_t i = 0; i < vectors; i += kLanes)
            stream(out + k * out_step + i, load(buffer + k * kBufferStep + i));
    store_tile(out + vectors, out_step, buffer + vectors, width, height - vectors);
}

bool is_aligned(const float* out, int64_t out_step) {
    return reinterpret_cast<uintptr_t>(out) % sizeof(Vector) == 0 &&
           out_step % kLanes == 0;
}

// How results are stored. Streamed stores bypass the caches: faster for a result that does
// not fit into them, since its lines are not read first; slower for a smaller one.
enum class Stores { kCached, kStreamed };

// Copies x (rows, columns) to out (columns, rows): out[j][i] = x[i][j]. A step is the
// distance from one row to the next in memory, in elements.
void transpose(float* out, int64_t out_step, const float* x, int64_t x_step, int64_t rows,
               int64_t columns, Stores stores) {
    alignas(64) float buffer[kTile * kBufferStep];
    const bool streams = stores == Stores::kStreamed && is_aligned(out, out_step);
    const auto put = streams ? stream_tile : store_tile;
    for (int64_t i = 0; i < rows; i += kTile)
        for (int64_t j = 0; j < columns; j += kTile) {
            const int64_t height = std::min(kTile, rows - i);
            const int64_t width = std::min(kTile, columns - j);
            transpose_tile(buffer, x + i * x_step + j, x_step, height, width);
            put(out + j * out_step + i, out_step, buffer, width, height);
        }
    if (streams) finish_streams();
}

}  // namespace

bool copy_transposed(float* out, const float* x, const StridedLoop<1>& loop,
                     bool to_strided) {
    constexpr int64_t kMinExtent = 8, kRows = 64;
    constexpr int64_t kMinStreamed = 4 << 20;  // elements: too many for the caches
    const auto& dimensions = loop.dimensions();
    const auto& row = dimensions.front();
    const auto is_run = [](const auto& d) {
        return d.strides[0] == 1 && d.extent >= kMinExtent;
    };
    const auto run = std::find_if(dimensions.begin() + 1, dimensions.end(), is_run);
    if (run == dimensions.end() || row.extent < kMinExtent || row.strides[0] <= 1)
        return false;

    // Each matrix is copied in slices of 64 rows of x. Number the slices of all matrices;
    // find a slice's offsets in both arrays.
    const int64_t x_rows = to_strided ? run->extent : row.extent;
    const int64_t x_columns = to_strided ? row.extent : run->extent;
    const int64_t slices = (x_rows + kRows - 1) / kRows;
    int64_t count = slices, run_step = 1;
    for (auto d = dimensions.begin(); d != run; ++d) run_step *= d->extent;
    for (auto d = dimensions.begin() + 1; d != dimensions.end(); ++d)
        if (d != run) count *= d->extent;
    const auto stores =
        count * kRows * x_columns >= kMinStreamed ? Stores::kStreamed : Stores::kCached;
    const auto copy_slice = [&](int64_t slice) {
        const int64_t begin = slice % slices * kRows;
        int64_t strided = begin * (to_strided ? 1 : row.strides[0]);
        int64_t contiguous = begin * (to_strided ? run_step : 1);
        int64_t matrix = slice / slices, step = row.extent;
        for (auto d = dimensions.begin() + 1; d != dimensions.end(); ++d) {
            if (d != run) {
                strided += matrix % d->extent * d->strides[0];
                contiguous += matrix % d->extent * step;
                matrix /= d->extent;
            }
            step *= d->extent;
        }
        const int64_t rows = std::min(kRows, x_rows - begin);
        if (to_strided)
            transpose(out + strided, row.strides[0], x + contiguous, run_step, rows,
                      x_columns, stores);
        else
            transpose(out + contiguous, run_step, x + strided, row.strides[0], rows,
                      x_columns, stores);
    };
    const int64_t grain = std::max<int64_t>(1, kElementGrain / (kRows * x_columns));
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t slice = begin; slice < end; ++slice) copy_slice(slice);
    });
    return true;
}

}  // namespace mini::kernels::cpu
