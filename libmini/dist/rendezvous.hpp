// Rendezvous: how ranks that know one address find one another.
//
//     env://     RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun and minirun set
//                them; MINI_STORE_COOKIE if there is one
//     tcp://     host:port?rank=0&world_size=4
//
// Rank 0 listens on the address and keeps the store; all ranks connect to it, rank 0 too.
// Each one signs in once. Who finds that something is wrong (two processes with one rank,
// two world sizes) writes it into the store as the verdict; the last one to sign in
// writes "ok". All wait for the verdict.

#pragma once

#include <memory>
#include <string>

#include "libmini/dist/tcp_store.hpp"
#include "libmini/dist/tcp_store_server.hpp"

namespace mini::dist {

/// What a rank knows before it meets the others.
struct Meeting {
    Address master;
    int rank = -1;
    int world_size = -1;
    Cookie cookie{};
};

/// Reads the init method and the environment; `rank` and `world_size`, when not -1, win
/// over both. Throws UsageError for what is missing, no number, or out of range, naming
/// the variable (`torch.distributed.init_process_group`).
Meeting plan_meeting(const std::string& init_method, int rank, int world_size);

/// What a rank has once all are there. The server is rank 0's only.
struct Rendezvous {
    std::unique_ptr<TcpStoreServer> server;
    std::unique_ptr<TcpStore> store;
};

/// Meets the other ranks; blocks until all have signed in. Throws Timeout naming the
/// missing ranks ("3 of 4 joined; missing: rank 2"), Error for a rank or a world size
/// that contradicts another's, on every rank at once.
Rendezvous meet(const Meeting& meeting, Deadline deadline);

}  // namespace mini::dist
