#include "libmini/tools/mini/simulate.hpp"

#include "libmini/tools/mini/simulate_allreduce.hpp"
#include "libmini/tools/mini/simulate_buckets.hpp"
#include "libmini/tools/mini/simulate_faults.hpp"
#include "libmini/tools/mini/simulate_messages.hpp"
#include "libmini/tools/mini/simulate_step.hpp"

namespace mini::tools {

void add_simulate(Command& mini) {
    Command simulate = mini.add_command(
        "simulate",
        "Collectives and training steps on a simulated cluster, in virtual time");
    simulate.require_command();
    add_simulate_all_reduce(simulate);
    add_simulate_messages(simulate);
    add_simulate_buckets(simulate);
    add_simulate_step(simulate);
    add_simulate_faults(simulate);
}

}  // namespace mini::tools
