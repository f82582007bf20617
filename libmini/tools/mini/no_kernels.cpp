
#include "libmini/core/error.hpp"
#include "libmini/tools/mini/kernels.hpp"

namespace mini::tools {

void add_kernels(Command& mini) {
    Command kernels = mini.add_command(
        "kernels", "What kernels do to a GPU's memory: not in this build");
    kernels.allow_anything();
    kernels.on_parsed([] {
        throw UsageError(
            "mini kernels counts on the simulator, and this build has none that counts: "
            "configure with -DMINI_CUDA=SIM and without the thread sanitizer");
    });
}

}  // namespace mini::tools
