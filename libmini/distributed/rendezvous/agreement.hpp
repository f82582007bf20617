// The agreement of all ranks on how their rendezvous ended. One key of the store holds the
// verdict; the first rank that knows how it ended sets it, and all ranks read it, so that all
// throw the same error.
//
//     "ok"            a rank has seen that all have joined
//     "timeout: ..."  a rank has waited until its deadline; names the missing ranks
//     "error: ..."    a rank contradicts another one

#pragma once

#include <string>

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Takes this rank's seat, and blocks until all ranks have joined or one of them has given
/// another verdict. Throws Timeout or Error, as the verdict says.
void agree(Store& store, const RendezvousConfig& config, const std::string& local_host,
           Deadline deadline);

/// Blocks until all ranks have taken their seats, for at most two seconds, so that late ones
/// read the verdict instead of finding no server. Does not throw.
void await_latecomers(Store& store, int world_size);

}  // namespace mini::dist
