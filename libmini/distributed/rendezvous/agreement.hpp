// The agreement of all ranks on the verdict: the result of their rendezvous. One key of
// the store holds the verdict. The first rank that knows the result sets this key, and
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

/// Takes this rank's seat, and blocks until all ranks have joined or a rank has given
/// another verdict. Throws Timeout if the verdict begins with "timeout", and Error if the
/// verdict begins with "error".
void agree(Store& store, const RendezvousConfig& config, const std::string& local_host,
           Deadline deadline);

/// Blocks until all ranks have taken their seats, but for at most two seconds, so that a
/// late rank can still connect to the server and read the verdict. Does not throw.
void await_latecomers(Store& store, int world_size);

}  // namespace mini::dist
