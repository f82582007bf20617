// Failures while the mesh is being connected: how a rank reports its failure to the others,
// and how the others notice it before their deadline.
//
//     connected ranks        the message with which every rank leaves; a closed connection
//     ranks that are not     the key "mesh/failure" of the store, which the first rank
//     connected yet          that fails sets

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/store/store.hpp"
#include "libmini/distributed/transport/message_stream.hpp"

namespace mini::dist {

/// How often a rank that waits for others looks for a reported failure.
constexpr std::chrono::milliseconds kFailureLook(500);

/// Reports this rank's failure to all ranks, and leaves the connected ranks. Never throws.
void leave_mesh(Store& store, std::vector<MessageStream> streams, int rank,
                const Failure& failure) noexcept;

/// If a connected rank is gone, throws the failure that this rank reported, else the one
/// in the store, else PeerLost: the mesh can never be complete.
void check_still_there(std::vector<MessageStream>& streams, Store& store, int rank);

/// Throws the failure that another rank has reported in the store, if there is one.
void check_reported_failure(Store& store);

/// As check_reported_failure, after a connection was closed: blocks until a failure is
/// reported, for a moment at most, because a failing rank may close connections first.
void await_reported_failure(Store& store);

/// Returns the value of a key, as Store::get does. Throws the failure that another rank
/// reports in the meantime.
std::string get_unless_failed(Store& store, const std::string& key, Deadline deadline);

}  // namespace mini::dist
