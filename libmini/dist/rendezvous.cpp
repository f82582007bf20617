#include "libmini/dist/rendezvous.hpp"

#include <unistd.h>

#include <random>
#include <thread>

#include "libmini/core/machine.hpp"
#include "libmini/core/text.hpp"
#include "libmini/dist/file_store.hpp"
#include "libmini/dist/prefix_store.hpp"

namespace mini::dist {
namespace {

const char* const kWorldSize = "rendezvous/world_size";
const char* const kHost = "rendezvous/host";
const char* const kJoined = "rendezvous/joined";
const char* const kVerdict = "rendezvous/verdict";

// A verdict is "ok", or one of these and a reason.
const std::string kTooLate = "timeout: ";
const std::string kContradiction = "error: ";

// Who has given the verdict the right to give it has surely written it after this time.
constexpr std::chrono::seconds kVerdictTime(5);

// How long rank 0 keeps the store after a failure, for the others to hear of it.
constexpr std::chrono::seconds kFarewellTime(2);

// How long to look for a first rank 0 that holds our port.
constexpr std::chrono::seconds kDoubleTime(1);

std::string seat(int rank) { return concat("rendezvous/rank/", rank); }

std::string this_process() { return concat("process ", ::getpid(), " on ", host_name()); }

// The first verdict stands: who comes later does not change what others may have read.
void give_verdict(Store& store, const std::string& verdict) {
    if (store.add(concat(kVerdict, "/count"), 1) == 1) store.set(kVerdict, verdict);
}

// ---- taking a seat

// What a seat holds: its process, and a number by which that process knows it as its own.
std::string who_sits(const std::string& seat_value) {
    return seat_value.substr(0, seat_value.rfind(" #"));
}

// "" when this rank has taken its seat; else what is wrong.
std::string take_seat(Store& store, const Meeting& meeting, const std::string& local_host,
                      Deadline deadline) {
    const int rank = meeting.rank, world_size = meeting.world_size;
    const std::string me = this_process();
    const std::string mine = concat(me, " #", std::random_device()());
    const std::string seated = store.compare_set(seat(rank), "", mine);
    if (seated != mine)
        return concat("two processes have RANK ", rank, ": ", who_sits(seated), " and ",
                      me, "; give each rank a number of its own",
                      meeting.file.empty() ? "" : ", and each run a file of its own");

    // Compare with rank 0, which took its seat before it said this.
    if (rank == 0) store.set(kHost, host_name());
    if (rank == 0) store.set(kWorldSize, std::to_string(world_size));
    const std::string expected = store.get(kWorldSize, deadline);
    if (expected != std::to_string(world_size))
        return concat("rank ", rank, " (", me, ") was started with WORLD_SIZE ",
                      world_size, ", but rank 0 (",
                      who_sits(store.get(seat(0), deadline)), ") with ", expected,
                      "; start all ranks with the same");
    const std::string first_host = store.get(kHost, deadline);
    if (!meeting.file.empty() && local_host == "127.0.0.1" && first_host != host_name())
        return concat("rank ", rank, " is on ", host_name(), " and rank 0 on ",
                      first_host,
                      ", but both listen on 127.0.0.1 only; set MINI_ADVERTISE_ADDR on "
                      "each rank to an address by which others reach its host");
    return "";
}

std::string missing_text(Store& store, const Meeting& meeting) {
    int joined = 0;
    const std::string missing = missing_ranks(0, meeting.world_size, [&](int rank) {
        const bool sits = store.check(seat(rank));
        joined += sits;
        return sits;
    });
    const std::string place =
        meeting.file.empty() ? to_text(meeting.master) : meeting.file;
    return concat("rendezvous at ", place, ": ", joined, " of ", meeting.world_size,
                  " joined; missing: ", missing.empty() ? "none" : missing,
                  "; were they started, and can they reach this place?");
}

// Blocks until all ranks sit, or somebody has found what is wrong.
std::string await_verdict(Store& store, const Meeting& meeting,
                          const std::string& local_host, Deadline deadline) {
    try {
        const std::string fault = take_seat(store, meeting, local_host, deadline);
        if (!fault.empty())
            give_verdict(store, concat(kContradiction, fault));
        else if (store.add(kJoined, 1) == meeting.world_size)
            give_verdict(store, "ok");

        // Whoever contradicts another is itself no part of the group, whatever it hears.
        const std::string verdict = store.get(kVerdict, deadline);
        return fault.empty() ? verdict : concat(kContradiction, fault);
    } catch (const Timeout&) {
        give_verdict(store, concat(kTooLate, missing_text(store, meeting)));
        return store.get(kVerdict, deadline_after(kVerdictTime));
    }
}

void agree(Store& store, const Meeting& meeting, const std::string& local_host,
           Deadline deadline) {
    const std::string verdict = await_verdict(store, meeting, local_host, deadline);
    if (verdict == "ok") return;
    if (verdict.starts_with(kTooLate)) throw Timeout(verdict.substr(kTooLate.size()));
    throw Error(verdict.substr(std::min(kContradiction.size(), verdict.size())));
}

// ---- reaching the store

constexpr int kStrangerTries = 3;
constexpr std::chrono::milliseconds kStrangerPause(30);

std::unique_ptr<TcpStore> connect_to_store(const Meeting& meeting, const Address& address,
                                           Deadline deadline) {
    const auto connect = [&] {
        return std::make_unique<TcpStore>(address, meeting.cookie, deadline);
    };
    // A rank 0 that ends while it says Hello looks like a stranger for a moment; a
    // stranger stays one.
    const auto connect_patiently = [&] {
        for (int tries = 1;; ++tries) {
            try {
                return connect();
            } catch (const Timeout&) {
                throw;
            } catch (const Error&) {
                if (tries == kStrangerTries) throw;
                std::this_thread::sleep_for(kStrangerPause);
            }
        }
    };
    try {
        return connect_patiently();
    } catch (const Timeout& timeout) {
        throw Timeout(concat("rank ", meeting.rank, " found no rank 0 at ",
                             to_text(address), " (", timeout.what(),
                             "); is it running, and is MASTER_ADDR its address?"));
    }
}

// The store that already listens at our address, if it is this run's: then there are two
// processes with rank 0, and meeting the other one will say so.
std::unique_ptr<TcpStore> find_double(const Meeting& meeting, const Error& busy) {
    try {
        return std::make_unique<TcpStore>(meeting.master, meeting.cookie,
                                          deadline_after(kDoubleTime));
    } catch (const Error&) {
        throw busy;
    }
}

Rendezvous open_tcp(const Meeting& meeting, Deadline deadline) {
    Rendezvous result;
    Address address = meeting.master;
    std::unique_ptr<TcpStore> store;
    if (meeting.rank == 0) {
        try {
            result.server = std::make_unique<TcpStoreServer>(address, meeting.cookie);
            address = result.server->address();
        } catch (const Error& busy) {
            store = find_double(meeting, busy);
        }
    }
    if (!store) store = connect_to_store(meeting, address, deadline);
    result.local_host = store->local_host();
    result.store = std::move(store);
    return result;
}

Rendezvous open_file(const Meeting& meeting) {
    Rendezvous result;
    auto file = std::make_shared<FileStore>(meeting.file);
    result.store =
        std::make_unique<PrefixStore>(concat("run/", meeting.run_id), std::move(file));
    result.local_host = "127.0.0.1";
    return result;
}

}  // namespace

Rendezvous meet(const Meeting& meeting, Deadline deadline) {
    Rendezvous result =
        meeting.file.empty() ? open_tcp(meeting, deadline) : open_file(meeting);
    if (!meeting.advertise.empty()) result.local_host = meeting.advertise;
    try {
        agree(*result.store, meeting, result.local_host, deadline);
    } catch (const Error&) {
        // Let the others hear the verdict before the store goes.
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
