
// mini kernels in a build without the simulator: throws an error that explains how to
// configure a build with the simulator.

#include "libmini/core/error.hpp"
#include "libmini/tools/mini/kernels.hpp"

namespace mini::tools {

void add_kernels(Command& mini) {
    Command kernels = mini.add_command(
        "kernels", "Counts the memory traffic of kernels: not in this build");
    kernels.allow_anything();
    kernels.on_parsed([] {
        throw UsageError(
            "mini kernels needs the simulator and its instrumentation, which this build "
            "does not have: configure with -DMINI_CUDA=SIM and without the thread "
            "sanitizer");
    });
}

}  // namespace mini::tools
