#include "libmini/tools/mini/bench_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/has_cuda.hpp"

namespace mini::tools {
namespace {

using Json = nlohmann::ordered_json;

// One benchmark: its name on the command line, the columns of its table, its function.
struct Bench {
    const char* name;
    std::vector<std::string> columns;
    void (*measure)(Device, const DeviceBenchOptions&, BenchRows&);
};

constexpr int kTimedBatches = 9;
constexpr int kMaxRepeats = 10000;

double run_batch(Device device, int repeats, const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) work();
    synchronize(device);
    const std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - start;
    return time.count() / repeats;
}

std::string name_of(Device device) {
    if constexpr (kHasCuda) {
        if (device.is_cuda()) return cuda::device_name(device.index);
    }
    return "CPU";
}

void check_written(const std::ofstream& file, const std::string& path) {
    MINI_CHECK(file.good(), "mini bench: ", path, " could not be written");
}

void run_bench(const Bench& bench, DeviceBenchOptions options) {
    const Device device = Device::parse(options.device);
    const std::string device_name = name_of(device);
    choose_sizes(options, is_simulated(device));

    // Open the file first: a path that cannot be written is an error before the
    // measurement.
    std::ofstream file;
    if (!options.json.empty()) {
        file.open(options.json);
        check_written(file, options.json);
    }
    fmt::print("# {} on {}: {}\n", bench.name, concat(device), device_name);
    if (is_simulated(device))
        fmt::print(
            "# these are the simulator's times, not a GPU's; default sizes are small\n");
    BenchRows rows(bench.columns);
    bench.measure(device, options, rows);
    if (options.json.empty()) return;
    file << Json{{"bench", bench.name},
                 {"device", concat(device)},
                 {"name", device_name},
                 {"rows", rows.json()}}
                .dump(2)
         << "\n";
    file.close();
    check_written(file, options.json);
}

Command add_benchmark(Command& bench, DeviceBenchOptions& o, const char* name,
                      const char* about) {
    Command command = bench.add_command(name, about);
    command.add("--device", o.device, "cuda, cuda:1, ... or cpu (cuda)");
    command.add("--seconds", o.seconds, "Measuring time per row (0.3)").positive();
    command.add("--json", o.json, "Also write the rows to this file");
    return command;
}

}  // namespace

double microseconds_each(Device device, double seconds,
                         const std::function<void()>& work) {
    run_batch(device, 1, work);
    const double once = std::max(run_batch(device, 1, work), 0.1);
    if (once * 3 > seconds * 1e6) {
        std::vector<double> runs = {run_batch(device, 1, work),
                                    run_batch(device, 1, work),
                                    run_batch(device, 1, work)};
        std::sort(runs.begin(), runs.end());
        return runs[1];
    }
    const double wanted = seconds * 1e6 / kTimedBatches / once;
    const int repeats = std::clamp(static_cast<int>(wanted), 1, kMaxRepeats);
    std::vector<double> times;
    for (int i = 0; i < kTimedBatches; ++i)
        times.push_back(run_batch(device, repeats, work));
    std::nth_element(times.begin(), times.begin() + kTimedBatches / 2, times.end());
    return times[kTimedBatches / 2];
}

Tensor random_numbers(const Shape& shape, Device device) {
    Generator generator(1);
    Tensor numbers = Tensor::empty(shape);
    fill_uniform(numbers.span<float>(), -1.0, 1.0, generator);
    return numbers.to(device);
}

bool is_simulated(Device device) {
    return device.is_cuda() && name_of(device) == "simulated device";
}

void choose_sizes(DeviceBenchOptions& options, bool simulated) {
    if (options.sizes.empty())
        options.sizes = simulated ? std::vector<int64_t>{64, 128, 256}
                                  : std::vector<int64_t>{256, 1024, 4096};
    if (options.elements == 0) options.elements = simulated ? 1 << 20 : 1 << 26;
}

void add_device_benches(Command& bench) {
    const auto options = std::make_shared<DeviceBenchOptions>();
    DeviceBenchOptions& o = *options;

    Command kernels = add_benchmark(bench, o, "kernels",
                                    "Memory-bound kernels, compared with a device copy");
    kernels
        .add("--elements", o.elements,
             "Floats of the largest operand (2^26, 2^20 on the simulator)")
        .range(int64_t{1024}, int64_t{1} << 31);
    kernels.on_parsed([options] {
        run_bench({"kernels", {"kernel", "us", "GB/s", "% of copy"}, bench_kernels},
                  *options);
    });

    Command matmul =
        add_benchmark(bench, o, "matmul", "Products of square matrices, rung by rung");
    matmul
        .add("--sizes", o.sizes, "M = N = K (256,1024,4096; 64,128,256 on the simulator)")
        .split_at(',')
        .range(1, 1 << 15);
    matmul.on_parsed([options] {
        run_bench(
            {"matmul", {"rung", "size", "us", "gflops", "% of cublas"}, bench_matmul},
            *options);
    });

    Command step = add_benchmark(bench, o, "train-step", "A step of training a network");
    step.add("--batch", o.batch, "Images (128)").range(1, 1 << 16);
    step.add("--model", o.model, "convnet, resnet18 or resnet50 (convnet)")
        .one_of({"convnet", "resnet18", "resnet50"});
    step.on_parsed([options] {
        run_bench({"train-step",
                   {"step", "batch", "us", "steps/s", "images/s"},
                   bench_train_step},
                  *options);
    });
}

}  // namespace mini::tools
