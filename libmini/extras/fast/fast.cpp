// Which kernel computes what:
//
//                                 direct               product              the core
//     forward, gradient of x      where it fits        from 32 rows on      otherwise
//     gradient of w               below 64 channels    from 32 rows on      otherwise
//
// Rows are the channels of the result: so often is each gathered element used. Below 32,
// gathering costs more than the longer copies of im2col.

#include "libmini/extras/fast/fast.hpp"

#include <cstdint>

#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/extras/fast/conv_methods.hpp"
#include "libmini/extras/fast/pool_2x2.hpp"
#include "libmini/extras/fast/shared_memory_all_reduce.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"

namespace mini::fast {
namespace {

namespace cpu = kernels::cpu;
using kernels::ConvKernels, kernels::ImageExtents, kernels::Window;

// With more ranks, the messages of each rank to all others take longer than those of the
// ring.
constexpr int kMaxRanks = 8;

constexpr int64_t kProductRows = 32;
constexpr int64_t kDirectWeightRows = 64;  // the gradient of w: product from here on

constexpr ConvKernels kDirect = {cpu::direct::conv2d, cpu::direct::backward_input,
                                 cpu::direct::backward_weight};
constexpr ConvKernels kProduct = {cpu::product::conv2d, cpu::product::backward_input,
                                  cpu::product::backward_weight};

const ConvKernels* conv(const ImageExtents& in, const Window& window, int64_t rows) {
    if (cpu::direct::fits(in, window)) return &kDirect;
    return rows >= kProductRows ? &kProduct : nullptr;
}

const ConvKernels* conv_weight(const ImageExtents& in, const Window& window,
                               int64_t rows) {
    return rows >= kDirectWeightRows ? &kProduct : conv(in, window, rows);
}

}  // namespace

void use() {
    kernels::use_faster_kernels(
        {.conv = conv, .conv_weight = conv_weight, .pool = cpu::pool_2x2});
    dist::use_shared_all_reduce({.pair_bytes = kPairBytes,
                                 .max_ranks = kMaxRanks,
                                 .run = shared_memory_all_reduce});
}

}  // namespace mini::fast
