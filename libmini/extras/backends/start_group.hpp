// How a group of backend gloo or nccl starts: rendezvous, library, then the store closes.

#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "libmini/distributed/group/queued_group.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"

namespace mini::dist {

/// Joins the rendezvous of `config`, calls make_backend(rendezvous, deadline), which
/// returns a connected backend, and creates the group. Blocks until all ranks are
/// connected. Throws as join_rendezvous and `make_backend` do.
template <typename MakeBackend>
std::shared_ptr<QueuedGroup> start_group(const RendezvousConfig& config,
                                         std::chrono::milliseconds timeout,
                                         const MakeBackend& make_backend) {
    const Deadline deadline = deadline_after(timeout);
    Rendezvous rendezvous = join_rendezvous(config, deadline);
    std::shared_ptr<QueuedGroup> group;
    try {
        group =
            std::make_shared<QueuedGroup>(make_backend(rendezvous, deadline), timeout);
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
