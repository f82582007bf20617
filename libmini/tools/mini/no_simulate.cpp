#include "libmini/core/error.hpp"
#include "libmini/tools/mini/simulate.hpp"

namespace mini::tools {

void add_simulate(Command& mini) {
    Command simulate = mini.add_command(
        "simulate", "Collectives on a simulated cluster: not in this build");
    simulate.allow_anything();
    simulate.on_parsed([] {
        throw UsageError(
            "mini simulate runs ranks as fibers, and Boost.Context was not found when "
            "this "
            "build was configured: install libboost-context-dev, or run labs/lab setup");
    });
}

}  // namespace mini::tools
