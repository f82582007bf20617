// Backend "gloo": Facebook's collectives over TCP, which PyTorch uses on CPUs.
//
//     collectives       Gloo's functions, each on a thread, while the communication
//                       thread polls the side channel: Gloo's functions block, and never
//                       report which rank is lost
//     point to point    the side channel
//     reduce_scatter    missing in Gloo: an all_reduce; each rank keeps its block
//
// The reduction functions are libmini's (collectives/reduce.hpp), as in backends "ring"
// and "mpi". Gloo checks no cookie, but stops listening when all ranks are connected.
// Gloo writes without MSG_NOSIGNAL, so the backend ignores SIGPIPE, unless the program
// handles it.

#pragma once

namespace mini::dist {

/// Registers the backend (backends/registry.hpp). Its groups throw as backend ring's do.
void use_gloo();

}  // namespace mini::dist
