// Dropout of elements on a GPU: one kernel draws the mask and multiplies by it. Two
// kernels, as on the CPU, would write the mask and then read it again.

#pragma once

#include "libmini/kernels/cuda/graph.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Returns the state for one call of a GPU's random generator, with a seed drawn from
/// `generator`. In a capture, the numbers also depend on the counter of RecordedDraws.
/// Inline, so that a build without CUDA does not need RecordedDraws.
inline kernels::cuda::PhiloxState draw_state(Generator& generator) {
    return {.seed = generator.random64(),
            .more_offset = cuda::RecordedDraws::more_offset()};
}

/// Returns dropout(x, p, true, generator) (functions.hpp). REQUIRES: x is on a GPU.
Tensor fused_dropout(const Tensor& x, double p, Generator& generator);

}  // namespace mini
