// Stubs for a build without MPI.

#include "libmini/distributed/backends/mpi.hpp"

namespace mini::dist {

std::string why_no_mpi() {
    return "install libopenmpi-dev and openmpi-bin and configure again";
}

std::shared_ptr<QueuedGroup> make_mpi_group(const MpiOptions&) {
    throw UsageError(concat("this build has no backend \"mpi\"; ", why_no_mpi()));
}

}  // namespace mini::dist
