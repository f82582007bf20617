// mini kernels in a build with nvcc: runs the samples, so that NVIDIA's profiler counts
// what the simulator counts in other builds.

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "libmini/tools/mini/kernels.hpp"

namespace mini::tools {

void add_kernels(Command& mini) {
    Command kernels = mini.add_command(
        "kernels", "Runs kernels on small inputs, to profile: ncu mini kernels NAME");
    const auto names = std::make_shared<std::vector<std::string>>();
    kernels.add("NAME", *names, "Samples to run (all)");
    kernels.on_parsed([names] {
        for (const KernelSample& sample : chosen_samples(*names)) {
            sample.run();
            fmt::print("{}\n", sample.name);
        }
    });
}

}  // namespace mini::tools
