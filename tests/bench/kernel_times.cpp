// kernel_times: the speed of a device's kernels.
//
//     kernel_times memory     GB/s of kernels whose time is that of their bytes, also in
//                             percent of a copy
//     kernel_times matmul     GFLOP/s of the product; with cuBLAS also with tf32
//
// Work is enqueued on the device in batches, with one synchronization per batch, as in
// training; a figure is the median over the batches. So a row below some 10 us is the time
// of a launch by the host. The operands are random numbers: products of equal numbers draw
// less power, and the clock of a GPU then is higher. The default sizes are smaller on the
// simulator, which is thousands of times slower than a GPU.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/gpu.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/tensor.hpp"

using namespace mini;

namespace {

struct Options {
    std::string device = "cuda", json;
    double seconds = 0.3;
    std::vector<int64_t> sizes;  // M = N = K; empty: a default
    int64_t elements = 0;        // 0: a default
};

using Rows = nlohmann::ordered_json;

double run_batch(Device device, int repeats, const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) work();
    synchronize(device);
    const std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    return time.count() / repeats;
}

// Returns the microseconds of one run of `work`, after two runs to warm up.
double microseconds_each(Device device, double seconds,
                         const std::function<void()>& work) {
    run_batch(device, 1, work);
    const double once = std::max(run_batch(device, 1, work), 0.1);
    const int batches = once * 3 > seconds * 1e6 ? 3 : 9;
    const int repeats =
        std::clamp(static_cast<int>(seconds * 1e6 / batches / once), 1, 10'000);
    std::vector<double> times;
    for (int i = 0; i < batches; ++i) times.push_back(run_batch(device, repeats, work));
    std::ranges::nth_element(times, times.begin() + batches / 2);
    return times[static_cast<size_t>(batches / 2)];
}

// Prints the name of a row before its measurement, which may take a while.
void begin_row(const std::string& name) {
    fmt::print("{:<22}", name);
    std::fflush(stdout);
}

Tensor random_numbers(const Shape& shape, Device device) {
    Generator generator(1);
    Tensor numbers = Tensor::empty(shape);
    fill_uniform(numbers.span<float>(), -1.0, 1.0, generator);
    return numbers.to(device);
}

std::string name_of(Device device) {
    return device.is_cuda() ? cuda::device_name(device.index) : "CPU";
}

// A kernel on operands of n floats.
struct Case {
    const char* name;
    double traffic;  // floats read and written, divided by n
    std::function<void()> work;
};

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
    return {
        {"copy", 2, [=] { copy_bytes(b.raw_data(), on, a.raw_data(), on, a.bytes()); }},
        {"scale", 2, [=] { run<cpu::scale, gpu::scale>(on, y, 1.0f, n); }},
        {"axpy", 3, [=] { run<cpu::axpy, gpu::axpy>(on, y, x, 0.0f, n); }},
        {"relu", 2,
         [=] { run<cpu::unary, gpu::unary>(on, kernels::UnaryOp::kReLU, y, x, n); }},
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

Rows measure_memory(Device device, const Options& options) {
    const int64_t cols = 1024, n = options.elements / cols * cols;
    const Tensor a = random_numbers({n}, device);
    Tensor b = random_numbers({n}, device);
    Tensor sums = Tensor::zeros({2, cols}, DType::kFloat32, device);
    Rows rows = Rows::array();
    double copied = 0;
    fmt::print("{:<22}{:>12}{:>12}{:>12}\n", "kernel", "us", "GB/s", "% of copy");
    for (const Case& one : memory_cases(a, b, sums)) {
        begin_row(one.name);
        const double time = microseconds_each(device, options.seconds, one.work);
        const double rate =
            one.traffic * static_cast<double>(n) * sizeof(float) / time / 1e3;
        if (copied == 0) copied = rate;
        fmt::print("{:>12.2f}{:>12.2f}{:>12.2f}\n", time, rate, 100 * rate / copied);
        rows.push_back({{"kernel", one.name}, {"us", time}, {"GB/s", rate}});
    }
    return rows;
}

Rows measure_matmul(Device device, const Options& options) {
    Rows rows = Rows::array();
    fmt::print("{:<22}{:>8}{:>12}{:>12}\n", "product", "size", "us", "gflops");
    for (const int64_t size : options.sizes) {
        const Tensor a = random_numbers({size, size}, device);
        const Tensor b = random_numbers({size, size}, device);
        Tensor out = Tensor::zeros({size, size}, DType::kFloat32, device);
        for (const char* const name : {"float32", "tf32"}) {
            gpu::allow_tf32 = name == std::string("tf32");
            if (gpu::allow_tf32 && device.is_cpu()) continue;
            begin_row(name);
            const double time = microseconds_each(device, options.seconds, [&] {
                run<cpu::matmul, gpu::matmul>(device, out.data<float>(), a.data<float>(),
                                              b.data<float>(), size, size, size,
                                              kernels::MatmulOptions());
            });
            const double rate = 2.0 * std::pow(static_cast<double>(size), 3) / time / 1e3;
            fmt::print("{:>8}{:>12.2f}{:>12.2f}\n", size, time, rate);
            rows.push_back(
                {{"product", name}, {"size", size}, {"us", time}, {"gflops", rate}});
        }
    }
    return rows;
}

void run_bench(const char* name, Rows (*measure)(Device, const Options&),
               Options options) {
    const Device device = Device::parse(options.device);
    const bool simulated = name_of(device) == "simulated device";
    if (options.elements == 0) options.elements = simulated ? 1 << 20 : 1 << 26;
    if (options.sizes.empty())
        options.sizes = simulated ? std::vector<int64_t>{64, 128, 256}
                                  : std::vector<int64_t>{256, 1024, 4096};
    fmt::print("# {} on {}: {}\n", name, concat(device), name_of(device));
    if (simulated) fmt::print("# these are the simulator's times, not a GPU's\n");
    const Rows rows = measure(device, options);
    if (options.json.empty()) return;
    std::ofstream file(options.json);
    file << Rows{{"bench", name}, {"name", name_of(device)}, {"rows", rows}}.dump(2)
         << "\n";
    file.close();
    MINI_CHECK(file, "kernel_times: ", options.json, " could not be written");
}

Command add(CommandLine& line, Options& o, const char* name, const char* about) {
    Command command = line.add_command(name, about);
    command.add("--device", o.device, "cuda, cuda:1, ... or cpu");
    command.add("--seconds", o.seconds, "Measuring time per row").at_least(1e-9);
    command.add("--json", o.json, "Also write the rows to this file");
    return command;
}

}  // namespace

int main(int argc, char** argv) try {
    Options o;
    CommandLine line("Measures the speed of a device's kernels.", "kernel_times");
    line.require_command();
    Command memory = add(line, o, "memory", "Kernels whose time is that of their bytes");
    memory.add("--elements", o.elements, "Floats of the largest operand (2^26)")
        .range(int64_t{1024}, int64_t{1} << 31);
    memory.on_parsed([&o] { run_bench("memory", measure_memory, o); });
    Command matmul = add(line, o, "matmul", "Products of square matrices");
    matmul.add("--sizes", o.sizes, "M = N = K, with commas (256,1024,4096)")
        .split_at(',')
        .range(1, 1 << 15);
    matmul.on_parsed([&o] { run_bench("matmul", measure_matmul, o); });
    line.parse(argc, argv);
    return 0;
} catch (const UsageError& error) {
    fmt::print(stderr, "kernel_times: {}\n", error.what());
    return 2;
} catch (const std::exception& error) {
    fmt::print(stderr, "kernel_times: {}\n", error.what());
    return 1;
}
