// Stubs for a build without NCCL.

#include "libmini/distributed/backends/nccl.hpp"

#include <chrono>

namespace mini::dist {

std::string why_no_nccl() {
    return "install CUDA and NCCL and configure again with -DMINI_CUDA=ON";
}

std::shared_ptr<QueuedGroup> make_nccl_group(const RendezvousConfig&, bool,
                                             std::chrono::milliseconds) {
    throw UsageError(concat("this build has no backend \"nccl\"; ", why_no_nccl()));
}

}  // namespace mini::dist
