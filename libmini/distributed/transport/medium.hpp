// Medium: what carries the messages of backend "ring".

#pragma once

namespace mini::dist {

/// The transport medium of backend "ring".
enum class Medium {
    kAuto,          // shared memory within a host, TCP between hosts
    kTcp,           // TCP everywhere
    kSharedMemory,  // shared memory; an error if ranks have several hosts or users
};

}  // namespace mini::dist
