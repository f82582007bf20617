// mini bench kernels, matmul and train-step: how fast one device computes.
//
//     kernels      GB/s of kernels bound by memory, beside a plain copy on the device
//     matmul       GFLOP/s of each rung of the ladder (kernels/cuda/matmul.hpp), and how
//                  much that is of cuBLAS's
//     train-step   steps a second of the ConvNet on MNIST's extents: forward, loss,
//                  backward, SGD; with --graph beside it, replayed from a CUDA graph
//
// Work is given to the device in batches and waited for once a batch, as training does; a
// figure is the median over the batches.

#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/tensor/device.hpp"

namespace CLI {
class App;
}

namespace mini::tools {

struct DeviceBenchOptions {
    std::string device = "cuda";
    double seconds = 0.3;        // to spend on a row
    std::string json;            // a file to write as well; none when empty
    std::vector<int64_t> sizes;  // matmul: M = N = K
    int64_t elements = 1 << 26;  // kernels: floats of the largest operand
    int64_t batch = 128;         // train-step: images
    bool graph = false;          // train-step: replayed from a CUDA graph
};

/// Microseconds that `work` takes on a device when given again and again; it is run twice
/// before. Blocks for about `seconds`, and at least three runs.
double microseconds_each(Device device, double seconds,
                         const std::function<void()>& work);

/// Rows of one bench, each an object; {"name": ..., "us": ..., ...}.
nlohmann::ordered_json bench_kernels(Device device, const DeviceBenchOptions& options);
nlohmann::ordered_json bench_matmul(Device device, const DeviceBenchOptions& options);
nlohmann::ordered_json bench_train_step(Device device, const DeviceBenchOptions& options);

/// Declares the three in `bench`, whose options are then as above. Each throws UsageError
/// for a device that is not there.
void add_device_benches(CLI::App& bench);

}  // namespace mini::tools
