// mini bench kernels, matmul and train-step: how fast one device computes.
//
//     kernels      GB/s of kernels bound by memory, beside a plain copy on the device
//     matmul       GFLOP/s of each rung of the ladder (kernels/cuda/matmul.hpp), and how
//                  much that is of cuBLAS's
//     train-step   steps a second of the ConvNet on MNIST's extents: forward, loss,
//                  backward, SGD; with --graph beside it, replayed from a CUDA graph
//
// Work is given to the device in batches and waited for once per batch, as training does; a
// figure is the median over the batches. On the simulator, which is thousands of times slower
// than a GPU, the default sizes are small ones.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/program/command_line.hpp"
#include "libmini/tensor/device.hpp"
#include "libmini/tools/mini/bench_rows.hpp"

namespace mini::tools {

struct DeviceBenchOptions {
    std::string device = "cuda";
    double seconds = 0.3;        // to spend on a row
    std::string json;            // a file to write as well; none when empty
    std::vector<int64_t> sizes;  // matmul: M = N = K; none: by the device
    int64_t elements = 0;  // kernels: floats of the largest operand; 0: by the device
    int64_t batch = 128;   // train-step: images
    bool graph = false;    // train-step: replayed from a CUDA graph
};

/// Microseconds that `work` takes on a device when given again and again; it is run twice
/// before. Blocks for about `seconds`, and at least three runs.
double microseconds_each(Device device, double seconds,
                         const std::function<void()>& work);

/// Gives `sizes` and `elements` their values where they were not asked for: a GPU's, or small
/// ones, with which each bench ends within a minute, on the simulator.
void choose_sizes(DeviceBenchOptions& options, bool simulated);

/// Whether this build's CUDA devices are the simulator's, and `device` is one of them.
bool is_simulated(Device device);

// Each measures its rows one by one. REQUIRES: the sizes are chosen.
void bench_kernels(Device device, const DeviceBenchOptions& options, BenchRows& rows);
void bench_matmul(Device device, const DeviceBenchOptions& options, BenchRows& rows);
void bench_train_step(Device device, const DeviceBenchOptions& options, BenchRows& rows);

/// Declares the three in `bench`, whose options are then as above. Each throws UsageError
/// for a device that is not there.
void add_device_benches(Command& bench);

}  // namespace mini::tools
