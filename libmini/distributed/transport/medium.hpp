// Medium: what carries the messages of backend "ring".

#pragma once

namespace mini::dist {

/// The transport medium of backend "ring".
enum class Medium {
    kAuto,  // shared memory between ranks of one host and user, else TCP
    kTcp,   // TCP everywhere
};

}  // namespace mini::dist
