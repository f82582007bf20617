#include "libmini/extras/fast/fast.hpp"

#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/extras/fast/conv_direct.hpp"
#include "libmini/extras/fast/conv_many_channels.hpp"
#include "libmini/extras/fast/pool_2x2.hpp"
#include "libmini/extras/fast/shared_memory_all_reduce.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"

namespace mini::fast {
namespace {

namespace cpu = kernels::cpu;

constexpr kernels::ConvKernels kDirect = {
    cpu::direct::conv2d, cpu::direct::backward_input, cpu::direct::backward_weight};

const kernels::ConvKernels* conv(const kernels::ImageExtents& in,
                                 const kernels::Window& window) {
    if (const auto* const method = cpu::many_channels(in, window)) return method;
    return cpu::direct::fits(in, window) ? &kDirect : nullptr;
}

}  // namespace

void use() {
    kernels::faster_kernels() = {.conv = conv, .pool = cpu::pool_2x2};
    dist::shared_all_reduce() = {
        .max_ranks = kMaxRanks, .run = shared_memory_all_reduce, .share = share_memory};
}

}  // namespace mini::fast
