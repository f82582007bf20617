// Ranks as threads of one process: for tests, labs and debugging.

#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

struct RunThreadsOptions {
    /// The group's timeout.
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Runs body(group) on `world_size` threads; blocks until all threads have ended. Each
/// thread is one rank of one group of backend "threads"; this group is also the default
/// group of each thread. The default device of each thread is the CPU if the caller's
/// default device is the CPU, else GPU rank % (number of GPUs). If a rank throws, the
/// operations of the other ranks throw PeerLost, and run_threads rethrows the first
/// exception.
void run_threads(int world_size, const std::function<void(ProcessGroup& group)>& body,
                 RunThreadsOptions options = {});

}  // namespace mini::dist
