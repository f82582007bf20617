// Backend "ring": ranks are processes, connected by TCP.

#pragma once

#include <memory>

#include "libmini/dist/rendezvous.hpp"
#include "libmini/dist/transport_group.hpp"

namespace mini::dist {

/// Meets the other ranks and connects to each; blocks until all are connected to all.
/// Throws as meet and connect_mesh do. The store is closed again before it returns.
std::shared_ptr<TransportGroup> make_ring_group(const Meeting& meeting,
                                                std::chrono::milliseconds timeout);

}  // namespace mini::dist
