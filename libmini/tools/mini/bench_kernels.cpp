#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "libmini/kernels/cuda/matmul.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/tensor.hpp"
#include "libmini/tools/mini/bench_device.hpp"

namespace mini::tools {
namespace {

// A kernel on operands of n floats.
struct Case {
    const char* name;
    double traffic;  // floats read and written, divided by n
    std::function<void()> work;
};

double gigabytes_per_second(double floats, double microseconds) {
    return floats * sizeof(float) / microseconds / 1e3;
}

// Returns the kernels. They run on the tensors a and b of n floats, viewed as (rows,
// cols), and on sums (2, cols).
std::vector<Case> memory_cases(Tensor a, Tensor b, Tensor sums) {
    const Device on = a.device();
    const int64_t n = a.numel();
    const int64_t cols = sums.size(1), rows = n / cols;
    float* const x = a.data<float>();
    float* const y = b.data<float>();
    float* const s = sums.data<float>();
    float* const more = s + cols;
    const kernels::ChannelExtents channels{.N = rows, .C = cols, .space = 1};
    const auto unary = [=](kernels::UnaryOp op) {
        return [=] { run<cpu::unary, gpu::unary>(on, op, y, x, n); };
    };
    return {
        {"copy", 2, [=] { copy_bytes(b.raw_data(), on, a.raw_data(), on, a.bytes()); }},
        {"scale", 2, [=] { run<cpu::scale, gpu::scale>(on, y, 1.0f, n); }},
        {"axpy", 3, [=] { run<cpu::axpy, gpu::axpy>(on, y, x, 0.0f, n); }},
        {"relu", 2, unary(kernels::UnaryOp::kReLU)},
        {"sum of rows", 1, [=] { run<cpu::sum, gpu::sum>(on, s, x, 1, rows, cols); }},
        {"sum of columns", 1, [=] { run<cpu::sum, gpu::sum>(on, s, x, cols, rows, 1); }},
        {"log-softmax", 2,
         [=] { run<cpu::log_softmax, gpu::log_softmax>(on, y, x, rows, cols); }},
        {"transposed copy", 2,
         [=] {
             const std::array<int64_t, 2> shape{cols, rows}, strides{1, cols};
             run<cpu::copy_strided, gpu::copy_strided>(
                 on, reinterpret_cast<std::byte*>(y),
                 reinterpret_cast<const std::byte*>(x), shape, strides,
                 int64_t{sizeof(float)});
         }},
        {"moments of (N, C)", 1,
         [=] {
             run<cpu::channel_moments, gpu::channel_moments>(on, s, more, x, channels);
         }},
        {"batch norm of (N, C)", 2,
         [=] {
             const float* const none = nullptr;  // no weight, and no bias
             run<cpu::batch_norm, gpu::batch_norm>(on, y, x, s, more, none, none,
                                                   channels, 1e-5);
         }},
        {"sgd", 3,
         [=] {
             float* const no_velocity = nullptr;
             run<cpu::sgd_step, gpu::sgd_step>(on, y, no_velocity, x, n,
                                               kernels::SGDStep{.lr = 0.0f});
         }},
        {"fill", 1, [=] { run<cpu::fill, gpu::fill>(on, y, 1.0f, n); }},
    };
}

double gigaflops(int64_t size, double microseconds) {
    return 2.0 * std::pow(static_cast<double>(size), 3) / microseconds / 1e3;
}

// Measures all rungs of the ladder at one size: out = a b on a CUDA device. cuBLAS comes
// first, because the other rungs are compared with it.
void measure_ladder(Tensor out, const Tensor& a, const Tensor& b, double seconds,
                    BenchRows& rows) {
    if constexpr (kHasCuda) {
        const int64_t n = out.size(0);
        const int device = out.device().index;
        const cuda::DeviceGuard guard(device);
        const auto built = gpu::matmul_rungs();
        std::vector<gpu::MatmulRung> rungs;
        std::ranges::copy_if(built, std::back_inserter(rungs), [&](gpu::MatmulRung rung) {
            return gpu::runs_on(rung, device);
        });
        std::stable_partition(rungs.begin(), rungs.end(), [](gpu::MatmulRung rung) {
            return rung == gpu::MatmulRung::kCublas;
        });

        double cublas = 0;
        const auto measure = [&](const std::string& name, gpu::MatmulRung rung) {
            rows.begin({name, n});
            const double time = microseconds_each(out.device(), seconds, [&] {
                gpu::matmul_on(rung, out.data<float>(), a.data<float>(), b.data<float>(),
                               n, n, n, {}, cuda::current_stream(device));
            });
            const double rate = gigaflops(n, time);
            if (name == "cublas") cublas = rate;
            BenchRows::Json share;
            if (cublas != 0) share = 100 * rate / cublas;
            rows.end({time, rate, share});
        };
        for (const gpu::MatmulRung rung : rungs) measure(gpu::name(rung), rung);
        if (cublas == 0) return;
        gpu::set_allow_tf32(true);  // what the rungs tf32 and bf16 compare with
        measure("cublas-tf32", gpu::MatmulRung::kCublas);
        gpu::set_allow_tf32(false);
    }
}

}  // namespace

void bench_kernels(Device device, const DeviceBenchOptions& options, BenchRows& rows) {
    const int64_t cols = 1024, n = options.elements / cols * cols;
    const Tensor a = random_numbers({n}, device);
    Tensor b = random_numbers({n}, device);
    Tensor sums = Tensor::zeros({2, cols}, DType::kFloat32, device);
    double copied = 0;
    for (const Case& one : memory_cases(a, b, sums)) {
        rows.begin({one.name});
        const double time = microseconds_each(device, options.seconds, one.work);
        const double rate =
            gigabytes_per_second(one.traffic * static_cast<double>(n), time);
        if (copied == 0) copied = rate;
        rows.end({time, rate, 100 * rate / copied});
    }
}

void bench_matmul(Device device, const DeviceBenchOptions& options, BenchRows& rows) {
    for (const int64_t size : options.sizes) {
        const Tensor a = random_numbers({size, size}, device);
        const Tensor b = random_numbers({size, size}, device);
        Tensor out = Tensor::zeros({size, size}, DType::kFloat32, device);
        if (device.is_cpu()) {
            rows.begin({"eigen", size});
            const double time = microseconds_each(device, options.seconds, [&] {
                cpu::matmul(out.data<float>(), a.data<float>(), b.data<float>(), size,
                            size, size);
            });
            rows.end({time, gigaflops(size, time), nullptr});
        } else {
            measure_ladder(out, a, b, options.seconds, rows);
        }
    }
}

}  // namespace mini::tools
