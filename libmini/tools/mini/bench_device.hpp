// mini bench kernels, matmul and train-step: the speed of one device.
//
//     kernels      GB/s of memory-bound kernels, also in percent of a plain copy
//     matmul       GFLOP/s of each rung of the ladder (kernels/cuda/matmul.hpp), also in
//                  percent of cuBLAS
//     train-step   steps per second of a network: forward, loss, backward, SGD
//
// Work is enqueued on the device in batches, with one synchronization per batch, as in
// training; a figure is the median over the batches. So a row below some 10 us is the time
// of a launch by the host. The operands are random numbers: products of equal numbers draw
// less power, and the clock of a GPU then is higher. The default sizes are smaller on the
// simulator, which is thousands of times slower than a GPU.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/program/command_line.hpp"
#include "libmini/tensor/device.hpp"
#include "libmini/tensor/tensor.hpp"
#include "libmini/tools/mini/bench_rows.hpp"

namespace mini::tools {

struct DeviceBenchOptions {
    std::string device = "cuda";
    double seconds = 0.3;        // measuring time per row
    std::string json;            // JSON output file; "": no file
    std::vector<int64_t> sizes;  // matmul: M = N = K; empty: a default for the device
    int64_t elements = 0;        // kernels: floats in the largest operand; 0: a default
    int64_t batch = 128;         // train-step: images per batch
    std::string model = "convnet";  // train-step: convnet, resnet18 or resnet50
};

/// Returns the microseconds of one run of `work`, enqueued repeatedly on a device, after
/// two warm-up runs. Blocks for about `seconds`, or for three runs if these take longer.
double microseconds_each(Device device, double seconds,
                         const std::function<void()>& work);

/// Sets `sizes` and `elements` to defaults if they are not set. The defaults for the
/// simulator are small: each benchmark takes less than a minute.
void choose_sizes(DeviceBenchOptions& options, bool simulated);

/// Returns a tensor of random numbers from -1 to 1, always the same for a shape.
Tensor random_numbers(const Shape& shape, Device device);

/// Returns whether `device` is a CUDA device of the simulator.
bool is_simulated(Device device);

// Each of these three functions measures its rows one by one and adds them to `rows`.
// REQUIRES: `sizes` and `elements` are set.
void bench_kernels(Device device, const DeviceBenchOptions& options, BenchRows& rows);
void bench_matmul(Device device, const DeviceBenchOptions& options, BenchRows& rows);
void bench_train_step(Device device, const DeviceBenchOptions& options, BenchRows& rows);

/// Declares the three benchmarks in `bench`. A benchmark throws UsageError if the device
/// does not exist.
void add_device_benches(Command& bench);

}  // namespace mini::tools
