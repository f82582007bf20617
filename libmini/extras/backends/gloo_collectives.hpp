// Our collectives as calls of Gloo's functions.

#pragma once

#include <gloo/context.h>

#include <chrono>
#include <memory>

#include "libmini/distributed/group/call.hpp"

namespace mini::dist {

/// Runs a collective; blocks until this rank's part is done. Throws Gloo's exceptions.
/// REQUIRES: the tensors are contiguous and not empty; all ranks make the same call.
void run_gloo(const std::shared_ptr<gloo::Context>& context, const Call& call,
              std::chrono::milliseconds timeout);

}  // namespace mini::dist
