// The collectives of backend "gloo", as calls of Gloo's functions.

#pragma once

#include <gloo/context.h>

#include <chrono>
#include <memory>

#include "libmini/distributed/group/call.hpp"

namespace mini::dist {

/// Carries out a collective; blocks until this rank's part is done. Throws Gloo's
/// exceptions. REQUIRES: non-empty tensors, and the same call on all ranks.
void run_gloo(const std::shared_ptr<gloo::Context>& context, const Call& call,
              std::chrono::milliseconds timeout);

}  // namespace mini::dist
