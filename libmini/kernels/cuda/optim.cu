// Stochastic gradient descent and Adam. A launch updates many parameters: row y of the grid
// has a thread for each element of parameter y, and idle threads if another one is longer.
//
// Traffic: parameter, gradient and optimizer state are each read once; parameter and
// state are written once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "libmini/kernels/adam.hpp"
#include "libmini/kernels/cuda/each.hpp"
#include "libmini/kernels/cuda/fused.hpp"

namespace mini::kernels::cuda {
namespace {

struct UpdateBySGD {
    float* parameter;   // (n)
    float* velocity;    // (n), or null
    const float* grad;  // (n)
    int64_t n;
    SGDStep step;

    __device__ void operator()(int64_t i) const {
        const float p = parameter[i], g = grad[i] + step.weight_decay * p;
        float direction = g;
        if (step.momentum != 0.0f) {
            float v = g;
            if (!step.first)
                v = velocity[i] * step.momentum + (1.0f - step.dampening) * g;
            velocity[i] = v;
            direction = step.nesterov ? g + step.momentum * v : v;
        }
        parameter[i] = p + -step.lr * direction;
    }
};

struct UpdateByAdam {
    float* parameter;   // (n)
    float* exp_avg;     // (n)
    float* exp_avg_sq;  // (n)
    const float* grad;  // (n)
    int64_t n;
    AdamConstants c;

    __device__ void operator()(int64_t i) const {
        const float p = parameter[i] * c.decay;
        const float g = grad[i] + c.weight_decay * p;

        // Interpolate from the nearer end (`torch.lerp`).
        const float average = exp_avg[i], difference = g - average;
        const float m = c.lerp_from_average ? average + c.one_minus_beta1 * difference
                                            : g - difference * c.beta1;
        const float v = exp_avg_sq[i] * c.beta2 + c.one_minus_beta2 * g * g;
        exp_avg[i] = m;
        exp_avg_sq[i] = v;
        parameter[i] = p + -c.step_size * m / (sqrtf(v) / c.correction + c.eps);
    }
};

// The arguments of a kernel are limited to 4 KiB.
template <typename Update>
struct List {
    static constexpr size_t kMax = 4096 / sizeof(Update);
    Update updates[kMax];
};

template <typename Update>
__global__ void update_kernel(List<Update> list) {
    const Update& update = list.updates[blockIdx.y];
    for (int64_t i = thread_number(); i < update.n; i += thread_count()) update(i);
}

template <typename Update, typename Call>
void update_all(std::span<const Call> calls, cudaStream_t stream) {
    for (size_t first = 0; first < calls.size(); first += List<Update>::kMax) {
        List<Update> list;
        const size_t count = std::min(List<Update>::kMax, calls.size() - first);
        int64_t longest = 0;
        for (size_t k = 0; k < count; ++k) {
            list.updates[k] = std::make_from_tuple<Update>(calls[first + k]);
            longest = std::max(longest, list.updates[k].n);
        }
        mini::cuda::Extents extents = grid_for(longest);
        extents.grid.y = static_cast<unsigned>(count);
        mini::cuda::launch(update_kernel<Update>, extents, stream, list);
    }
}

}  // namespace

void sgd_steps(std::span<const CallOf<cpu::sgd_step>> calls, cudaStream_t stream) {
    update_all<UpdateBySGD>(calls, stream);
}

void adam_steps(std::span<const CallOf<cpu::adam_step>> calls, cudaStream_t stream) {
    update_all<UpdateByAdam>(calls, stream);
}

}  // namespace mini::kernels::cuda
