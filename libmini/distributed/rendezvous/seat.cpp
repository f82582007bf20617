#include "libmini/distributed/rendezvous/seat.hpp"

#include <sstream>

namespace mini::dist {
namespace {

Seat new_seat(int world_size) {
    return {world_size, system().process_id(), system().host_name(),
            static_cast<uint32_t>(system().random_number())};
}

std::string two_processes_text(const RendezvousConfig& config, const Seat& seated,
                               const Seat& mine) {
    return concat("two processes have RANK ", config.rank, ": ", process_of(seated),
                  " and ", process_of(mine), "; give each rank a number of its own",
                  config.file.empty() ? "" : ", and each run a file of its own");
}

std::string world_sizes_text(const RendezvousConfig& config, const Seat& first,
                             const Seat& mine) {
    return concat("rank ", config.rank, " (", process_of(mine),
                  ") was started with WORLD_SIZE ", mine.world_size, ", but rank 0 (",
                  process_of(first), ") with ", first.world_size,
                  "; start all ranks with the same");
}

// Returns an error if, over file://, this rank is on another host than rank 0 and listens
// only on 127.0.0.1, where rank 0 cannot reach it. Returns "" otherwise.
std::string host_fault(const RendezvousConfig& config, const std::string& local_host,
                       const Seat& first, const Seat& mine) {
    if (config.file.empty() || local_host != "127.0.0.1" || first.host == mine.host)
        return "";
    return concat("rank ", config.rank, " is on ", mine.host, " and rank 0 on ",
                  first.host,
                  ", but both listen on 127.0.0.1 only; set MINI_ADVERTISE_ADDR on "
                  "each rank to an address by which others reach its host");
}

std::string stopped_text(Store& store, int rank) {
    const Seat taken =
        parse_seat(store.get(seat_key(rank), deadline_after(kSeatReadTimeout)));
    return concat("rank ", rank, " (", process_of(taken),
                  " began to join and went no further; was it killed or stopped?)");
}

}  // namespace

std::string to_text(const Seat& seat) {
    return concat(seat.world_size, " ", seat.process, " ", seat.host, " ", seat.number);
}

Seat parse_seat(const std::string& text) {
    std::istringstream in(text);
    Seat seat;
    in >> seat.world_size >> seat.process >> seat.host >> seat.number;
    return seat;
}

std::string process_of(const Seat& seat) {
    return concat("process ", seat.process, " on ", seat.host);
}

std::string seat_key(int rank) { return concat("rendezvous/rank/", rank); }
std::string joined_key(int rank) { return concat("rendezvous/joined/", rank); }

std::string take_seat(Store& store, const RendezvousConfig& config,
                      const std::string& local_host, Deadline deadline) {
    const Seat mine = new_seat(config.world_size);
    // [lab10.5] Take the seat of this rank in one step, then compare with rank 0.
    const std::string seated =
        store.compare_set(seat_key(config.rank), "", to_text(mine));
    if (seated != to_text(mine))
        return two_processes_text(config, parse_seat(seated), mine);
    const Seat first = parse_seat(store.get(seat_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);
    // [lab10.5]
}

std::string missing_text(Store& store, int rank) {
    // [lab10.5] Distinguish a rank that has joined, has no seat, waits, or has stopped.
    if (store.check(joined_key(rank))) return "";
    if (!store.check(seat_key(rank))) return concat("rank ", rank);
    if (rank != 0 && !store.check(seat_key(0))) return "";
    return stopped_text(store, rank);
    // [lab10.5]
}

}  // namespace mini::dist
