// The registrations of a rendezvous: each rank writes one entry into the store, in one
// step. So a second process with the same rank is detected, and a rank that dies leaves
// either no entry or a complete entry.
//
//                            key                     value                  set by
//     registration_key(2)    "rendezvous/rank/2"     "4 1234 hostname 998"  register_rank()
//     joined_key(2)          "rendezvous/joined/2"   ""                     agree()

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// How long to wait for a registration that is known to be in the store.
inline constexpr std::chrono::seconds kRegistrationTimeout(5);

/// A rank's entry.
struct Registration {
    int world_size = 0;
    int process = 0;  // the process's id
    std::string host;
    uint32_t number = 0;  // random, so that the process recognises its own entry
};

/// Returns the members in their order, as text: "4 1234 hostname 998".
std::string to_text(const Registration& registration);

/// Parses the text of to_text().
Registration parse_registration(const std::string& text);

/// Returns "process 1234 on hostname".
std::string process_of(const Registration& registration);

/// Returns "rendezvous/rank/2", the key of a rank's entry.
std::string registration_key(int rank);

/// Returns "rendezvous/joined/2", the key that a rank sets after register_rank() has
/// found no error. After that the rank waits for the joined_key() of every other rank.
std::string joined_key(int rank);

/// Registers this rank: sets its registration_key() to the text of a new entry, unless
/// another process has set this key. Returns two_processes_text(), without waiting for
/// rank 0, if another process has registered this rank. Otherwise blocks until rank 0's
/// entry exists, and compares: returns world_sizes_text() if rank 0 has another world
/// size, else the result of host_fault(), which is "" if there is no error. Throws
/// Timeout if rank 0 does not register before the deadline.
std::string register_rank(Store& store, const RendezvousConfig& config,
                          const std::string& local_host, Deadline deadline);

/// Returns the text that names `rank` as missing in an error message: "rank 2" if the
/// rank has not registered (its registration_key() is not set). Returns "" if the rank
/// has set its joined_key(), or if it has registered and waits in register_rank()
/// because rank 0 has not. Returns stopped_text() otherwise.
std::string missing_text(Store& store, int rank);

}  // namespace mini::dist
