#include <cmath>

#include "libmini/kernels/cuda/matmul.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tools/mini/bench_device.hpp"

namespace mini::tools {
namespace {

using Json = nlohmann::ordered_json;

// A kernel, and how many times its operands' floats go to or from memory.
struct Case {
    const char* name;
    double traffic;
    std::function<void()> work;
};

double gigabytes_a_second(double floats, double microseconds) {
    return floats * sizeof(float) / microseconds / 1e3;
}

// The cases over tensors a and b of n floats, a square of them being (rows, cols).
std::vector<Case> memory_cases(Tensor a, Tensor b, Tensor sums) {
    const Device on = a.device();
    const int64_t n = a.numel();
    const int64_t cols = sums.numel(), rows = n / cols;
    float* const x = a.data<float>();
    float* const y = b.data<float>();
    float* const s = sums.data<float>();
    const auto unary = [=](kernels::UnaryOp op) {
        return [=] { run<cpu::unary, gpu::unary>(on, op, y, x, n); };
    };
    return {
        {"copy", 2, [=] { copy_bytes(b.raw_data(), on, a.raw_data(), on, a.bytes()); }},
        {"fill", 1, [=] { run<cpu::fill, gpu::fill>(on, y, 1.0f, n); }},
        {"scale", 2, [=] { run<cpu::scale, gpu::scale>(on, y, 1.0f, n); }},
        {"axpy", 3, [=] { run<cpu::axpy, gpu::axpy>(on, y, x, 0.0f, n); }},
        {"relu", 2, unary(kernels::UnaryOp::kReLU)},
        {"sum of rows", 1, [=] { run<cpu::sum, gpu::sum>(on, s, x, 1, rows, cols); }},
        {"sum of columns", 1, [=] { run<cpu::sum, gpu::sum>(on, s, x, cols, rows, 1); }},
        {"log-softmax", 2,
         [=] { run<cpu::log_softmax, gpu::log_softmax>(on, y, x, rows, cols); }},
        {"sgd", 3,
         [=] {
             float* const no_velocity = nullptr;
             run<cpu::sgd_step, gpu::sgd_step>(on, y, no_velocity, x, n,
                                               kernels::SGDStep{.lr = 0.0f});
         }},
    };
}

Json product_row(const std::string& name, int64_t size, double microseconds) {
    const double operations = 2.0 * std::pow(static_cast<double>(size), 3);
    return {{"rung", name},
            {"size", size},
            {"us", microseconds},
            {"gflops", operations / microseconds / 1e3},
            {"% of cublas", nullptr}};
}

// Fills in what each row is of cuBLAS's at the same size, where there is one.
void compare_with_cublas(Json& rows) {
    for (const Json& top : rows)
        for (Json& row : rows)
            if (top["rung"] == "cublas" && top["size"] == row["size"])
                row["% of cublas"] =
                    100 * row["gflops"].get<double>() / top["gflops"].get<double>();
}

}  // namespace

nlohmann::ordered_json bench_kernels(Device device, const DeviceBenchOptions& options) {
    const int64_t cols = 1024, n = options.elements / cols * cols;
    const Tensor a = Tensor::ones({n}, DType::kFloat32, device);
    Tensor b = Tensor::ones({n}, DType::kFloat32, device);
    Tensor sums = Tensor::zeros({cols}, DType::kFloat32, device);
    Json rows = Json::array();
    double copied = 0;
    for (const Case& one : memory_cases(a, b, sums)) {
        const double time = microseconds_each(device, options.seconds, one.work);
        const double rate =
            gigabytes_a_second(one.traffic * static_cast<double>(n), time);
        if (rows.empty()) copied = rate;
        rows.push_back({{"kernel", one.name},
                        {"us", time},
                        {"GB/s", rate},
                        {"% of copy", 100 * rate / copied}});
    }
    return rows;
}

nlohmann::ordered_json bench_matmul(Device device, const DeviceBenchOptions& options) {
    Json rows = Json::array();
    for (const int64_t size : options.sizes) {
        const Tensor a = Tensor::ones({size, size}, DType::kFloat32, device);
        const Tensor b = Tensor::ones({size, size}, DType::kFloat32, device);
        Tensor out = Tensor::zeros({size, size}, DType::kFloat32, device);
        const auto measure = [&](const std::string& name, const auto& work) {
            rows.push_back(product_row(name, size,
                                       microseconds_each(device, options.seconds, work)));
        };
        float* const to = out.data<float>();
        const float* const left = a.data<float>();
        const float* const right = b.data<float>();
        if (device.is_cpu())
            measure("eigen", [&] { cpu::matmul(to, left, right, size, size, size); });
        if constexpr (kHasCuda) {
            if (device.is_cpu()) continue;
            const cuda::DeviceGuard guard(device.index);
            for (const gpu::MatmulRung rung : gpu::matmul_rungs())
                measure(gpu::name(rung), [&] {
                    gpu::matmul_on(rung, to, left, right, size, size, size, {},
                                   cuda::current_stream(device.index));
                });
        }
    }
    compare_with_cublas(rows);
    return rows;
}

}  // namespace mini::tools
