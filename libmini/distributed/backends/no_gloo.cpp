// Stubs for a build without Gloo.

#include "libmini/distributed/backends/gloo.hpp"

#include <chrono>

namespace mini::dist {

std::string why_no_gloo() { return "install libgloo-dev and configure again"; }

std::shared_ptr<QueuedGroup> make_gloo_group(const RendezvousConfig&, bool,
                                             std::chrono::milliseconds) {
    throw UsageError(concat("this build has no backend \"gloo\"; ", why_no_gloo()));
}

}  // namespace mini::dist
