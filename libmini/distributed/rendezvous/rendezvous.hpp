// Rendezvous: how ranks find each other through one known address or one shared file.
//
//     env://     rank and world size from the launcher (rank_variables.hpp); the address
//                from MASTER_ADDR and MASTER_PORT, or derived from the launcher's job
//     tcp://     host:port?rank=0&world_size=4
//     file://    /shared/path?rank=0&world_size=4
//
// Over env:// and tcp:// rank 0 listens on the address and keeps the store, and all ranks
// connect to it, rank 0 too; over file:// the store is the file. Each rank registers in
// the store: it takes the seat of its rank. A rank that finds an error (two processes
// with the same rank, different world sizes, a missing rank) writes it into the store as
// the verdict; when all have joined, the verdict is "ok". All ranks read the verdict, so
// all report the same error.
//
//     MINI_STORE_COOKIE      keeps other runs and programs out of rank 0's store
//     MINI_ADVERTISE_ADDR    the address at which other ranks can reach this rank, if it
//                            is not the local address of the connection to the store
//     MINI_RUN_ID            distinguishes the runs that use one file (or torchrun's
//                            TORCHELASTIC_RUN_ID)

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"

namespace mini::dist {

/// The result of a rendezvous. Only rank 0 has the server; over file:// no rank has.
/// `local_host` is the address of this host on which to listen for other ranks.
struct Rendezvous {
    std::unique_ptr<TcpStoreServer> server;
    std::unique_ptr<Store> store;
    std::string local_host;
};

/// Joins the other ranks; blocks until all have joined. Throws Timeout naming the missing
/// ranks ("3 of 4 joined; missing: rank 2") and the process of a rank that only began to
/// join. Throws Error, immediately and on every rank, if two processes have the same rank
/// or different world sizes, naming both processes.
Rendezvous join_rendezvous(const RendezvousConfig& config, Deadline deadline);

/// Returns the ranks >= `first` that are not there, as "rank 1, rank 2"; "" if all are.
std::string missing_ranks(int first, int world_size,
                          const std::function<bool(int rank)>& is_there);

/// Closes the store; on rank 0 blocks until all other ranks have closed theirs. When rank
/// 0 has returned from part(), for example after the next barrier, another rendezvous can
/// use the same address or file.
void part(Rendezvous rendezvous, Deadline deadline);

/// Like part(), after a failure: rank 0 keeps the store for a moment, so that the other
/// ranks do not take its loss for the cause.
void part_after_failure(Rendezvous rendezvous);

}  // namespace mini::dist
