// Rendezvous: how ranks find each other through one known address or one shared file.
//
//     env://     rank and world size from the launcher (rank_variables.hpp); the address
//                from MASTER_ADDR and MASTER_PORT, or derived from the launcher's job
//     tcp://     host:port?rank=0&world_size=4
//     file://    /shared/path?rank=0&world_size=4
//
// Over env:// and tcp:// rank 0 listens on the address and serves the store; all ranks,
// rank 0 too, connect to the store. Over file:// the store is the file. Each rank takes
// its registration in the store. A rank that finds an error (two processes with the same
// rank, different world sizes, a missing rank) writes the error into the store as the
// result; when all ranks have joined, the result is "ok". All ranks read the result, so
// all report the same error.
//
//     MINI_STORE_COOKIE      keeps other runs and programs out of rank 0's store
//     MINI_ADVERTISE_ADDR    the address at which other ranks can reach this rank, if it
//                            is not the local address of the connection to the store;
//                            behind NAT, the outside address of this machine
//     MINI_RUN_ID            distinguishes the runs that use one file; if it is not set,
//                            torchrun's TORCHELASTIC_RUN_ID is used

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"

namespace mini::dist {

/// The result of a rendezvous. `server` is null except on rank 0; over file:// it is null
/// on all ranks. `local_host` is the address at which other ranks reach this host.
struct Rendezvous {
    std::unique_ptr<TcpStoreServer> server;
    std::unique_ptr<Store> store;
    std::string local_host;
};

/// Joins the other ranks; blocks until all ranks have joined. Throws Timeout if the
/// deadline passes first, naming the missing ranks ("3 of 4 joined; missing: rank 2") and
/// the process of a rank that began to join and then stopped. Throws Error on every rank,
/// before the deadline, if two processes have the same rank or different world sizes; the
/// message names both processes. Throws UsageError on rank 0 if the launcher has started
/// ranks on other hosts, and the name of this host is an address that they cannot reach.
Rendezvous join_rendezvous(const RendezvousConfig& config, Deadline deadline);

/// Returns the ranks from `first` on for which is_there() is false, as "rank 1, rank 2";
/// "" if there are none.
std::string missing_ranks(int first, int world_size,
                          const std::function<bool(int rank)>& is_there);

/// Closes this rank's store; on rank 0 then blocks until all other ranks have closed
/// theirs or the deadline passes. When all ranks have returned from part(), which a
/// barrier after part() ensures, another rendezvous can use the same address or file.
void part(Rendezvous rendezvous, Deadline deadline);

/// Like part(), but after a failure: rank 0 serves the store for at most two more
/// seconds, so that the other ranks do not report the loss of the store as the cause.
void part_after_failure(Rendezvous rendezvous);

}  // namespace mini::dist
