// Ranks as threads of one process: what tests, labs and a curious debugger use.

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
/// backend "threads", as its default group too. A rank's default device is the caller's, or
/// where that is a GPU, GPU number rank modulo how many there are. Blocks until all have ended. When one
/// throws, the others are released from their waits with PeerLost, and the first failure
/// is rethrown here.
void run_threads(int world_size, const std::function<void(ProcessGroup& group)>& body,
                 RunThreadsOptions options = {});

}  // namespace mini::dist
