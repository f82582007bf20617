// Ranks as threads of one process: for tests, labs and debugging.

#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

struct RunThreadsOptions {
    std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Runs body(group) on `world_size` threads, each with its own rank of one group of
/// backend "threads", which is also its default group. A rank's default device is the
/// caller's, or, if the caller's is a GPU, GPU rank % (number of GPUs). Blocks until all
/// threads have ended. If a rank throws, the operations of the other ranks throw
/// PeerLost, and the first exception is rethrown here.
void run_threads(int world_size, const std::function<void(ProcessGroup& group)>& body,
                 RunThreadsOptions options = {});

}  // namespace mini::dist
