// The rendezvous of Gloo's ranks, through our store.

#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>

#include "libmini/distributed/rendezvous/rendezvous.hpp"

namespace mini::dist {

using ContextHandle = std::shared_ptr<gloo::Context>;

/// Returns a context that is connected to all other ranks. Every rank must call this
/// function; blocks until this rank is connected, at most until the deadline. Throws
/// Gloo's exceptions. `local_host`: an address of this host that the other ranks can
/// reach.
ContextHandle connect_gloo(int rank, int world_size, Store& store,
                           const std::string& local_host, Deadline deadline);

}  // namespace mini::dist
