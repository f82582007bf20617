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

#include "libmini/kernels/cpu/transpose.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libmini/kernels/cpu/transpose_block.hpp"
#include "libmini/kernels/cpu/vector.hpp"

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

}  // namespace

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

}  // namespace mini::kernels::cpu
