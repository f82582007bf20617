// Rendezvous: how ranks that know one address, or one file, find one another.
//
//     env://     rank and world size as the launcher set them (rank_variables.hpp);
//                MASTER_ADDR and MASTER_PORT, or what follows from the launcher's job
//     tcp://     host:port?rank=0&world_size=4
//     file://    /shared/path?rank=0&world_size=4
//
// Over env:// and tcp:// rank 0 listens on the address and keeps the store, and all ranks
// connect to it, rank 0 too; over file:// the store is the file. Each rank takes its seat
// there. Who finds that something is wrong (two processes with one rank, two world sizes,
// a rank that does not come) writes it into the store as the verdict; the last one to
// take a seat writes "ok". All wait for the verdict, so all say the same.
//
//     MINI_STORE_COOKIE      keeps other runs and programs out of rank 0's store
//     MINI_ADVERTISE_ADDR    the address of this host on which ranks reach this one,
//                            where the one that leads to the store is not it
//     MINI_RUN_ID            tells the runs that use one file apart (or torchrun's
//                            TORCHELASTIC_RUN_ID)

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"

namespace mini::dist {

/// What a rank knows before it meets the others.
struct RendezvousConfig {
    Address master;
    int rank = -1;
    int world_size = -1;
    Cookie cookie{};
    std::string file = "";       // over file://, instead of master
    std::string run_id = "";     // "" when none was chosen
    std::string advertise = "";  // "" for the address that leads to the store
};

/// Reads the init method and the environment; `rank` and `world_size`, when not -1, win
/// over both. Says on level info which launcher was believed. Throws UsageError for what
/// is missing, no number, or out of range, naming the variable
/// (`torch.distributed.init_process_group`).
RendezvousConfig rendezvous_config(const std::string& init_method, int rank,
                                   int world_size);

/// What a rank has once all are there. Rank 0 alone has the server, and over file://
/// there is none. `local_host` is the address of this host on which to listen for other
/// ranks.
struct Rendezvous {
    std::unique_ptr<TcpStoreServer> server;
    std::unique_ptr<Store> store;
    std::string local_host;
};

/// Meets the other ranks; blocks until all have joined. Throws Timeout naming the missing
/// ranks ("3 of 4 joined; missing: rank 2"), with its process one that only began to
/// join; Error for a rank or a world size that contradicts another's, naming both
/// processes, on every rank at once.
Rendezvous join_rendezvous(const RendezvousConfig& config, Deadline deadline);

/// "rank 1, rank 2": the ranks from `first` on that are not there; "" for none.
std::string missing_ranks(int first, int world_size,
                          const std::function<bool(int rank)>& is_there);

/// Closes the store; on rank 0 blocks until all others have closed theirs. Once rank 0 is
/// through, so after the next barrier, the place is free for another config.
void part(Rendezvous rendezvous, Deadline deadline);

/// The same after a failure: rank 0 keeps the store for a moment, so that the others do
/// not take its end for the cause.
void part_after_failure(Rendezvous rendezvous);

}  // namespace mini::dist
