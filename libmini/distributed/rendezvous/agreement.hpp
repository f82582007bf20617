// The agreement of all ranks on the result of their rendezvous. One key of the store
// holds the result. The first rank that knows the result sets this key, and
// all ranks read the key, so that all throw the same error.
//
//     "ok"            a rank has seen that all ranks have joined
//     "timeout: ..."  the deadline of a rank has passed; the text names the missing ranks
//     "error: ..."    a rank contradicts another rank

#pragma once

#include <string>

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Registers this rank, and blocks until all ranks have joined or a rank has set
/// another result. Throws Timeout if the result begins with "timeout", and Error if the
/// result begins with "error".
void agree(Store& store, const RendezvousConfig& config, const std::string& local_host,
           Deadline deadline);

/// Blocks until all ranks have registered, but for at most two seconds, so that a
/// late rank can still connect to the server and read the result. Does not throw.
void await_latecomers(Store& store, int world_size);

}  // namespace mini::dist
