// Kernels that exist only for a GPU: each does the work of several kernels, because a launch
// takes a GPU longer than a small kernel runs. The contracts are those of kernels.hpp.

#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/kernels.hpp"

namespace mini::kernels::cuda {

/// The arguments of one call of a kernel of the CPU.
template <typename... Parameters>
std::tuple<Parameters...> arguments_of(void (*)(Parameters...));  // has no definition
template <auto kCpu>
using CallOf = decltype(arguments_of(kCpu));

// optim.cu

/// Make all calls of cpu::sgd_step or cpu::adam_step: one launch for dozens of parameters
/// (PyTorch: `fused=True`). REQUIRES: the arrays of different calls do not overlap.
void sgd_steps(std::span<const CallOf<cpu::sgd_step>> calls, cudaStream_t stream);
void adam_steps(std::span<const CallOf<cpu::adam_step>> calls, cudaStream_t stream);

/// Calls of kCpu on arrays of a CPU, or of kGpu for all calls on arrays of one GPU.
template <auto kCpu, auto kGpu>
class Calls {
  public:
    Calls() = default;
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;

    /// After an exception, makes the calls before it, as if add() had made each.
    ~Calls() {
        try {
            finish();
        } catch (const Error&) {  // the first exception is reported
        }
    }

    /// Calls kCpu if `device` is kHost. For a GPU, keeps the arguments until the next
    /// device's call, or finish().
    template <typename... Arguments>
    void add(int device, Arguments... arguments) {
        if (device == mini::cuda::kHost) return kCpu(arguments...);
        if (device != device_) finish();
        device_ = device;
        calls_.emplace_back(arguments...);
    }

    /// Makes the calls that are left. Throws what kGpu throws.
    void finish() {
        if (calls_.empty()) return;
        const mini::cuda::DeviceGuard guard(device_);
        const auto calls = std::exchange(calls_, {});
        if constexpr (MINI_HAS_CUDA) kGpu(calls, mini::cuda::current_stream(device_));
    }

  private:
    int device_ = mini::cuda::kHost;
    std::vector<CallOf<kCpu>> calls_;
};

// softmax.cu

/// loss[0] = the sum of the cross-entropies of all rows, divided by `divisor`; NaN if a
/// target is not a class. dx = dloss/dx.
void cross_entropy(float* loss,            // (1)
                   float* dx,              // (rows, cols)
                   const float* x,         // (rows, cols), class scores
                   const int64_t* target,  // (rows)
                   int64_t rows, int64_t cols, float divisor, cudaStream_t stream);

}  // namespace mini::kernels::cuda
