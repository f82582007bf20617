#include "libmini/extras/scaling/simulate.hpp"

namespace mini::scaling {

void add_simulate(Command& mini) {
    Command simulate = mini.add_command(
        "simulate",
        "Collectives and training steps on a simulated cluster, in virtual time");
    simulate.require_command();
    add_simulate_all_reduce(simulate);
    add_simulate_messages(simulate);
    add_simulate_buckets(simulate);
    add_simulate_step(simulate);
}

}  // namespace mini::scaling
