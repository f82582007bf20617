// How a group of a library starts: rendezvous, library, then the store closes.

#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"

namespace mini::dist {

/// Calls make_backend(rendezvous), which returns a connected backend, and creates the
/// group. Blocks until all ranks are connected. Throws as `make_backend` does.
template <typename MakeBackend>
std::shared_ptr<QueuedGroup> start_group(Rendezvous rendezvous, Deadline deadline,
                                         std::chrono::milliseconds timeout,
                                         const MakeBackend& make_backend) {
    std::shared_ptr<QueuedGroup> group;
    try {
        group = std::make_shared<QueuedGroup>(make_backend(rendezvous), timeout);
    } catch (const Error&) {
        part_after_failure(std::move(rendezvous));
        throw;
    }

    // Close the store. No rank returns before rank 0 has closed its server, so that the
    // ranks can meet again at the same address.
    part(std::move(rendezvous), deadline);
    group->barrier_until(deadline);
    return group;
}

}  // namespace mini::dist
