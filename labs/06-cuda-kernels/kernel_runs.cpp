// kernel_counts in a build with nvcc: runs the samples, so that NVIDIA's profiler counts
// what the simulator counts in other builds.
//
//     ncu build/cuda/bin/kernel_counts relu-each

#include <fmt/core.h>

#include <exception>
#include <string>
#include <vector>

#include "labs/06-cuda-kernels/kernel_samples.hpp"

int main(int argc, char** argv) try {
    const std::vector<std::string> names(argv + 1, argv + argc);
    for (const auto& sample : mini::labs::chosen_samples(names)) {
        sample.run();
        fmt::print("{}\n", sample.name);
    }
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "kernel_counts: {}\n", error.what());
    return 1;
}
