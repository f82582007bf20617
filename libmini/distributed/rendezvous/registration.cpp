#include "libmini/distributed/rendezvous/registration.hpp"

#include <sstream>

namespace mini::dist {
namespace {

Registration new_registration(int world_size) {
    return {world_size, system().process_id(), system().host_name(),
            static_cast<uint32_t>(system().random_number())};
}

std::string two_processes_text(const RendezvousConfig& config, const Registration& stored,
                               const Registration& mine) {
    return concat("two processes have RANK ", config.rank, ": ", process_of(stored),
                  " and ", process_of(mine), "; give each rank a number of its own",
                  config.file.empty() ? "" : ", and each run a file of its own");
}

std::string world_sizes_text(const RendezvousConfig& config, const Registration& first,
                             const Registration& mine) {
    return concat("rank ", config.rank, " (", process_of(mine),
                  ") was started with WORLD_SIZE ", mine.world_size, ", but rank 0 (",
                  process_of(first), ") with ", first.world_size,
                  "; start all ranks with the same");
}

// Returns an error if, over file://, this rank is on another host than rank 0 and
// listens only on 127.0.0.1, where rank 0 cannot reach it. Returns "" otherwise.
std::string host_fault(const RendezvousConfig& config, const std::string& local_host,
                       const Registration& first, const Registration& mine) {
    if (config.file.empty() || local_host != "127.0.0.1" || first.host == mine.host)
        return "";
    return concat("rank ", config.rank, " is on ", mine.host, " and rank 0 on ",
                  first.host,
                  ", but both listen on 127.0.0.1 only; set MINI_ADVERTISE_ADDR on "
                  "each rank to an address by which others reach its host");
}

std::string stopped_text(Store& store, int rank) {
    const Registration taken = parse_registration(
        store.get(registration_key(rank), deadline_after(kRegistrationTimeout)));
    return concat("rank ", rank, " (", process_of(taken),
                  " began to join and went no further; was it killed or stopped?)");
}

}  // namespace

std::string to_text(const Registration& registration) {
    return concat(registration.world_size, " ", registration.process, " ",
                  registration.host, " ", registration.number);
}

Registration parse_registration(const std::string& text) {
    std::istringstream in(text);
    Registration registration;
    in >> registration.world_size >> registration.process >> registration.host >>
        registration.number;
    return registration;
}

std::string process_of(const Registration& registration) {
    return concat("process ", registration.process, " on ", registration.host);
}

std::string registration_key(int rank) { return concat("rendezvous/rank/", rank); }
std::string joined_key(int rank) { return concat("rendezvous/joined/", rank); }

std::string register_rank(Store& store, const RendezvousConfig& config,
                          const std::string& local_host, Deadline deadline) {
    const Registration mine = new_registration(config.world_size);
    // [lab10.6] Register this rank in one step, then compare with rank 0.
    const std::string stored =
        store.compare_set(registration_key(config.rank), "", to_text(mine));
    if (stored != to_text(mine))
        return two_processes_text(config, parse_registration(stored), mine);
    const Registration first =
        parse_registration(store.get(registration_key(0), deadline));
    if (first.world_size != config.world_size)
        return world_sizes_text(config, first, mine);
    return host_fault(config, local_host, first, mine);
    // [lab10.6]
}

std::string missing_text(Store& store, int rank) {
    if (store.check(joined_key(rank))) return "";
    if (!store.check(registration_key(rank))) return concat("rank ", rank);
    if (rank != 0 && !store.check(registration_key(0))) return "";
    return stopped_text(store, rank);
}

}  // namespace mini::dist
