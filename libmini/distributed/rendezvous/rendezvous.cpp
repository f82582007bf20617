#include "libmini/distributed/rendezvous/rendezvous.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/store/file_store.hpp"
#include "libmini/distributed/store/prefix_store.hpp"

namespace mini::dist {
namespace {

const char* const kVerdict = "rendezvous/verdict";

// A verdict is kAllJoined, or one of the other two followed by a reason.
const std::string kAllJoined = "ok";
const std::string kTooLate = "timeout: ";
const std::string kContradiction = "error: ";

// How long to wait for a key that is known to exist.
constexpr std::chrono::seconds kReadTime(5);

// How long rank 0 keeps the store after a failure, so that the others can read the
// reason.
constexpr std::chrono::seconds kFarewellTime(2);

// How long rank 0 then waits for ranks that have not registered yet.
constexpr std::chrono::seconds kLateTime(2);

// How long to try to reach another process with rank 0 that holds our port.
constexpr std::chrono::seconds kDoubleTime(3);

// No job has more ranks. Bounds the loop over a world size that another process reports.
constexpr int kMostRanks = 1 << 16;

std::string seat(int rank) { return concat("rendezvous/rank/", rank); }
std::string has_joined(int rank) { return concat("rendezvous/joined/", rank); }

// Writes a verdict, unless there is one. Returns the verdict in the store: always the
// first, because other ranks may have read it.
std::string give_verdict(Store& store, const std::string& verdict) {
    return store.compare_set(kVerdict, "", verdict);
}

// ---- taking a seat

// The entry of a rank, written as one value: a rank that dies leaves either no entry or
// all that the others need to continue.
struct Seat {
    int world_size = 0;
    int process = 0;
    std::string host;
    uint32_t number = 0;  // random: by it the process recognises its own entry
};

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

// Registers this rank. Returns "", or the error.
std::string take_seat(Store& store, const RendezvousConfig& config,
                      const std::string& local_host, Deadline deadline) {
    const int rank = config.rank, world_size = config.world_size;
    const Seat mine{world_size, system().process_id(), system().host_name(),
                    static_cast<uint32_t>(system().random_number())};
    const std::string seated = store.compare_set(seat(rank), "", to_text(mine));
    if (seated != to_text(mine))
        return concat("two processes have RANK ", rank, ": ",
                      process_of(parse_seat(seated)), " and ", process_of(mine),
                      "; give each rank a number of its own",
                      config.file.empty() ? "" : ", and each run a file of its own");

    // Compare with rank 0.
    const Seat first = parse_seat(store.get(seat(0), deadline));
    if (first.world_size != world_size)
        return concat("rank ", rank, " (", process_of(mine),
                      ") was started with WORLD_SIZE ", world_size, ", but rank 0 (",
                      process_of(first), ") with ", first.world_size,
                      "; start all ranks with the same");
    if (!config.file.empty() && local_host == "127.0.0.1" && first.host != mine.host)
        return concat("rank ", rank, " is on ", mine.host, " and rank 0 on ", first.host,
                      ", but both listen on 127.0.0.1 only; set MINI_ADVERTISE_ADDR on "
                      "each rank to an address by which others reach its host");
    return "";
}

// Returns "" if `rank` has joined, or waits for rank 0 as this rank does; else a text
// that names it as missing.
std::string missing_text(Store& store, int rank) {
    if (store.check(has_joined(rank))) return "";
    if (!store.check(seat(rank))) return concat("rank ", rank);
    if (rank != 0 && !store.check(seat(0))) return "";
    const Seat taken = parse_seat(store.get(seat(rank), deadline_after(kReadTime)));
    return concat("rank ", rank, " (", process_of(taken),
                  " began to join and went no further; was it killed or stopped?)");
}

std::string too_late_text(Store& store, const RendezvousConfig& config) {
    std::vector<std::string> missing;
    for (int rank = 0; rank < config.world_size; ++rank)
        if (const std::string text = missing_text(store, rank); !text.empty())
            missing.push_back(text);
    const std::string place = config.file.empty() ? to_text(config.master) : config.file;
    const int joined = config.world_size - static_cast<int>(missing.size());
    return concat("rendezvous at ", place, ": ", joined, " of ", config.world_size,
                  " joined; missing: ", missing.empty() ? "none any more" : join(missing),
                  "; were they started, and can they reach this place?");
}

std::vector<std::string> of_all(std::string (*key)(int rank), int world_size) {
    std::vector<std::string> keys;
    for (int rank = 0; rank < world_size; ++rank) keys.push_back(key(rank));
    return keys;
}

// Wakes all ranks that wait for others to join; they will read the verdict.
void release(Store& store, const RendezvousConfig& config) {
    int world_size = config.world_size;
    if (store.check(seat(0))) {
        const Seat first = parse_seat(store.get(seat(0), deadline_after(kReadTime)));
        world_size = std::max(world_size, std::min(first.world_size, kMostRanks));
    }
    for (const std::string& key : of_all(has_joined, world_size)) store.set(key, "");
}

// Blocks until all ranks have joined, or one of them has found an error; returns the
// verdict. If this rank dies here, only its key "joined" is missing.
std::string await_verdict(Store& store, const RendezvousConfig& config,
                          const std::string& local_host, Deadline deadline) {
    try {
        const std::string fault = take_seat(store, config, local_host, deadline);
        if (!fault.empty()) {
            // A rank that contradicts another fails, whatever the verdict is.
            give_verdict(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(has_joined(config.rank), "");
        store.wait(of_all(has_joined, config.world_size), deadline);
        return give_verdict(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string verdict =
            give_verdict(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return verdict;
    }
}

void agree(Store& store, const RendezvousConfig& config, const std::string& local_host,
           Deadline deadline) {
    const std::string verdict = await_verdict(store, config, local_host, deadline);
    if (verdict == kAllJoined) return;
    if (verdict.starts_with(kTooLate)) throw Timeout(verdict.substr(kTooLate.size()));
    throw Error(verdict.substr(std::min(kContradiction.size(), verdict.size())));
}

// Waits for late ranks, so that they read the verdict instead of finding no server.
void await_latecomers(Store& store, int world_size) {
    try {
        store.wait(of_all(seat, world_size), deadline_after(kLateTime));
    } catch (const Error&) {  // the caller throws the first error
    }
}

// ---- reaching the store

constexpr int kStrangerTries = 3;
constexpr std::chrono::milliseconds kStrangerPause(30);

std::unique_ptr<TcpStore> connect_to_store(const RendezvousConfig& config,
                                           const Address& address, Deadline deadline) {
    const auto connect = [&] {
        return std::make_unique<TcpStore>(address, config.cookie, deadline);
    };
    // Try again: rank 0 may have died in the middle of its Hello. If another program
    // listens there, all attempts fail the same way.
    const auto connect_patiently = [&] {
        for (int tries = 1;; ++tries) {
            try {
                return connect();
            } catch (const Timeout&) {
                throw;
            } catch (const Error&) {
                if (tries == kStrangerTries) throw;
                sleep_for(kStrangerPause);
            }
        }
    };
    try {
        return connect_patiently();
    } catch (const Timeout& timeout) {
        throw Timeout(concat("rank ", config.rank, " found no rank 0 at ",
                             to_text(address), " (", timeout.what(),
                             "); is it running, and is MASTER_ADDR its address?"));
    }
}

// Connects to the store that already listens at our address, if it belongs to this run:
// then two processes have rank 0, and take_seat() will report it. Else throws `busy`.
std::unique_ptr<TcpStore> find_double(const RendezvousConfig& config, const Error& busy) {
    try {
        return std::make_unique<TcpStore>(config.master, config.cookie,
                                          deadline_after(kDoubleTime));
    } catch (const Error&) {
        throw busy;
    }
}

Rendezvous open_tcp(const RendezvousConfig& config, Deadline deadline) {
    Rendezvous result;
    Address address = config.master;
    std::unique_ptr<TcpStore> store;
    if (config.rank == 0) {
        try {
            result.server = std::make_unique<TcpStoreServer>(address, config.cookie);
            address = result.server->address();
        } catch (const Error& busy) {
            store = find_double(config, busy);
        }
    }
    if (!store) store = connect_to_store(config, address, deadline);
    result.local_host = store->local_host();
    result.store = std::move(store);
    return result;
}

Rendezvous open_file(const RendezvousConfig& config) {
    Rendezvous result;
    auto file = std::make_shared<FileStore>(config.file);
    result.store =
        std::make_unique<PrefixStore>(concat("run/", config.run_id), std::move(file));
    result.local_host = "127.0.0.1";
    return result;
}

}  // namespace

Rendezvous join_rendezvous(const RendezvousConfig& config, Deadline deadline) {
    Rendezvous result =
        config.file.empty() ? open_tcp(config, deadline) : open_file(config);
    // No call waits for an answer of the store longer than a rank may take to join.
    result.store->set_timeout(
        std::chrono::milliseconds(std::max(1, milliseconds_left(deadline))));
    if (!config.advertise.empty()) result.local_host = config.advertise;
    try {
        agree(*result.store, config, result.local_host, deadline);
    } catch (const Timeout&) {  // all ranks had the whole time to join
        part_after_failure(std::move(result));
        throw;
    } catch (const Error&) {
        // Let the others read the verdict before the store closes.
        if (result.server) await_latecomers(*result.store, config.world_size);
        part_after_failure(std::move(result));
        throw;
    }
    return result;
}

std::string missing_ranks(int first, int world_size,
                          const std::function<bool(int rank)>& is_there) {
    std::vector<std::string> missing;
    for (int rank = first; rank < world_size; ++rank)
        if (!is_there(rank)) missing.push_back(concat("rank ", rank));
    return join(missing);
}

void part(Rendezvous rendezvous, Deadline deadline) {
    rendezvous.store = nullptr;
    if (rendezvous.server) rendezvous.server->wait_until_alone(deadline);
}

void part_after_failure(Rendezvous rendezvous) {
    part(std::move(rendezvous), deadline_after(kFarewellTime));
}

}  // namespace mini::dist
