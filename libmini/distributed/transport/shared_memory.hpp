// Memory that processes of one host share, without a name: it lives as long as a process
// holds a descriptor of it, and is freed with the last one, however that process ends.

#pragma once

#include <cstddef>
#include <memory>

#include "libmini/distributed/transport/ring_channel.hpp"

namespace mini::dist {

/// New memory of `bytes` zeros, and the descriptor by which others can map it. Throws
/// Error when there is not enough.
struct NewSharedMemory {
    std::shared_ptr<Memory> memory;
    Socket descriptor;
};
NewSharedMemory make_shared_memory(size_t bytes);

/// Maps what make_shared_memory made elsewhere. Throws Error when it is smaller than
/// `bytes`, or could be made smaller later.
std::shared_ptr<Memory> map_shared_memory(const Socket& descriptor, size_t bytes);

}  // namespace mini::dist
