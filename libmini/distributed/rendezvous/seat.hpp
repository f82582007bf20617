// The seats of a rendezvous: each rank writes one entry into the store, in one step, so that
// a second process with the same rank is noticed, and a rank that dies leaves either no entry
// or all that the others need.
//
//     seat_key(2)      "rendezvous/rank/2"     "4 1234 hostname 998"     set by take_seat()
//     joined_key(2)    "rendezvous/joined/2"   ""                        set by agree()

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// How long to wait for a seat that is known to be in the store.
inline constexpr std::chrono::seconds kSeatReadTimeout(5);

/// The entry of a rank.
struct Seat {
    int world_size = 0;
    int process = 0;  // the process's id
    std::string host;
    uint32_t number = 0;  // random: by it the process recognises its own entry
};

/// Returns "4 1234 hostname 998": all members, in their order.
std::string to_text(const Seat& seat);

/// Reads what to_text() returned.
Seat parse_seat(const std::string& text);

/// Returns "process 1234 on hostname".
std::string process_of(const Seat& seat);

/// Returns "rendezvous/rank/2", the key of a rank's entry.
std::string seat_key(int rank);

/// Returns "rendezvous/joined/2", the key that a rank sets when take_seat() has found no error:
/// then it waits for the others' keys.
std::string joined_key(int rank);

/// Registers this rank: sets its seat_key() to the text of a new entry, unless another process
/// has set it; reads the entry of rank 0, blocking until it exists; and compares. Returns "",
/// or the error: two_processes_text() if another process has the seat (then without waiting
/// for rank 0), world_sizes_text() if rank 0's world size is another, else host_fault().
/// Throws Timeout if rank 0 takes no seat before the deadline.
std::string take_seat(Store& store, const RendezvousConfig& config,
                      const std::string& local_host, Deadline deadline);

/// What keeps the ranks waiting for `rank`: returns "" if it has its joined_key(), or has a
/// seat and waits for rank 0, which has none, as take_seat() does; "rank 2" if it has no seat;
/// else stopped_text().
std::string missing_text(Store& store, int rank);

}  // namespace mini::dist
