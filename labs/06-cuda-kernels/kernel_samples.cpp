#include "labs/06-cuda-kernels/kernel_samples.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "labs/06-cuda-kernels/relu_ladder.hpp"
#include "labs/06-cuda-kernels/softmax_online.hpp"
#include "labs/06-cuda-kernels/sum_ladder.hpp"
#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/matmul.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::labs {
namespace {

using namespace mini::kernels;
namespace on_device = mini::kernels::cuda;

// An array of n elements on device 0, all with the same value.
template <typename T>
class Array {
  public:
    explicit Array(int64_t n, T value = T{1}) {
        const std::vector<T> values(static_cast<size_t>(n), value);
        const size_t bytes = values.size() * sizeof(T);
        data_ = static_cast<T*>(mini::cuda::allocate(bytes, 0, nullptr));
        mini::cuda::copy(data_, values.data(), bytes, nullptr);
        mini::cuda::synchronize_stream(nullptr);
    }
    ~Array() {
        mini::cuda::synchronize_stream(nullptr);
        mini::cuda::deallocate(data_);
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator T*() const { return data_; }

  private:
    T* data_;
};
using Floats = Array<float>;

// Returns a sample that runs a rung of the matmul ladder on square matrices. Their size
// is not a multiple of the tile size.
KernelSample product(on_device::MatmulRung rung) {
    return {std::string("matmul-") + on_device::name(rung), [rung] {
                const int64_t n = 72;
                const Floats out(n * n), a(n * n), b(n * n);
                on_device::matmul_on(rung, out, a, b, n, n, n, {}, nullptr);
            }};
}

// Returns a sample that sums 4096 floats by a rung of the ladder of sums.
KernelSample sum_by(const std::string& rung,
                    void (*sum)(float*, const float*, int64_t, cudaStream_t)) {
    return {"sum-" + rung, [sum] {
                const Floats out(1), x(4096);
                sum(out, x, 4096, nullptr);
            }};
}

void transposed_copy() {
    const std::array<int64_t, 2> shape{64, 96}, strides{1, 64};
    const Floats out(64 * 96), x(64 * 96);
    on_device::copy_strided(reinterpret_cast<std::byte*>(static_cast<float*>(out)),
                            reinterpret_cast<const std::byte*>(static_cast<float*>(x)),
                            shape, strides, sizeof(float), nullptr);
}

void broadcast_add() {
    const std::array<int64_t, 2> shape{32, 100}, matrix{100, 1}, row{0, 1};
    const Floats out(3200), a(3200), b(100);
    on_device::binary(BinaryOp::kAdd, out, a, b, shape, matrix, row, nullptr);
}

void max_pool() {
    const ImageExtents in{2, 4, 16, 16};
    const Window window{.kernel = 2, .stride = 2};
    const Floats y(2 * 4 * 8 * 8), x(2 * 4 * 16 * 16);
    const Array<int32_t> where(2 * 4 * 8 * 8);
    on_device::max_pool2d(y, where, x, in, window, nullptr);
}

void batch_norm() {
    const ChannelExtents at{4, 8, 64};
    const Floats y(4 * 8 * 64), x(4 * 8 * 64), mean(8), variance(8);
    on_device::channel_moments(mean, variance, x, at, nullptr);
    on_device::batch_norm(y, x, mean, variance, nullptr, nullptr, at, 1e-5, nullptr);
}

}  // namespace

std::vector<KernelSample> kernel_samples() {
    std::vector<KernelSample> all{
        {"add-broadcast", broadcast_add},
        {"batch-norm", batch_norm},
        {"copy-transposed", transposed_copy},
        {"log-softmax",
         [] {
             const Floats y(16 * 100), x(16 * 100);
             on_device::log_softmax(y, x, 16, 100, nullptr);
         }},
        {"log-softmax-online",
         [] {
             const Floats y(16 * 100), x(16 * 100);
             on_device::log_softmax_online(y, x, 16, 100, nullptr);
         }},
        {"max-pool", max_pool},
        {"relu",
         [] {
             const Floats out(4096), x(4096);
             on_device::unary(UnaryOp::kReLU, out, x, 4096, nullptr);
         }},
        {"relu-each",
         [] {
             const Floats out(4096), x(4096);
             on_device::relu_each(out, x, 4096, nullptr);
         }},
        {"relu-grid-stride",
         [] {
             const Floats out(4096), x(4096);
             on_device::relu_grid_stride(out, x, 4096, 4, nullptr);
         }},
        {"relu-runs",
         [] {
             const Floats out(4096), x(4096);
             on_device::relu_runs(out, x, 4096, nullptr);
         }},
        {"scale",
         [] {
             const Floats x(4096);
             on_device::scale(x, 2.0f, 4096, nullptr);
         }},
        {"sgd",
         [] {
             const Floats parameter(4096), grad(4096);
             on_device::sgd_step(parameter, nullptr, grad, 4096, {}, nullptr);
         }},
        {"sum-columns",
         [] {
             const Floats out(64), x(64 * 64);
             on_device::sum(out, x, 1, 64, 64, nullptr);
         }},
        {"sum-rows",
         [] {
             const Floats out(64), x(64 * 64);
             on_device::sum(out, x, 64, 64, 1, nullptr);
         }},
        sum_by("divergent", on_device::sum_divergent),
        sum_by("interleaved", on_device::sum_interleaved),
        sum_by("sequential", on_device::sum_sequential),
        sum_by("first-add", on_device::sum_first_add),
        sum_by("shuffle", on_device::sum_shuffle),
        sum_by("atomic", on_device::sum_atomic),
    };
    for (const on_device::MatmulRung rung : on_device::matmul_rungs())
        all.push_back(product(rung));
    return all;
}

std::vector<KernelSample> chosen_samples(const std::vector<std::string>& names) {
    const auto all = kernel_samples();
    if (names.empty()) return all;
    std::vector<KernelSample> chosen;
    std::vector<std::string> known;
    for (const KernelSample& sample : all) known.push_back(sample.name);
    for (const std::string& name : names) {
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end())
            throw UsageError(concat("no sample is named \"", name, "\"",
                                    "; the samples are ", mini::join(known)));
        chosen.push_back(all[static_cast<size_t>(found - known.begin())]);
    }
    return chosen;
}

}  // namespace mini::labs
