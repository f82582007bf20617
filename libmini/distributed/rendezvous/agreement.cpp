#include "libmini/distributed/rendezvous/agreement.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/distributed/rendezvous/registration.hpp"

namespace mini::dist {
namespace {

const char* const kResult = "rendezvous/result";

// A result is kAllJoined, or kTooLate or kContradiction followed by a reason.
const std::string kAllJoined = "ok";
const std::string kTooLate = "timeout: ";
const std::string kContradiction = "error: ";

// How long rank 0 waits for ranks that have not registered yet.
constexpr std::chrono::seconds kLateTime(2);

// No job has more ranks. Limits the loop over a world size that another process reports.
constexpr int kMostRanks = 1 << 16;

// Sets the result, unless the store has one. Returns the one in the store.
std::string set_result(Store& store, const std::string& result) {
    return store.compare_set(kResult, "", result);
}

std::string too_late_text(Store& store, const RendezvousConfig& config) {
    std::vector<std::string> missing;
    for (int rank = 0; rank < config.world_size; ++rank)
        if (const std::string text = missing_text(store, rank); !text.empty())
            missing.push_back(text);
    std::string place = config.file.empty() ? to_text(config.master) : config.file;
    if (!config.store_address.empty() && config.store_address != place)
        place += concat(" (", config.store_address, ")");
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

// Sets the joined_key() of every rank. This wakes all ranks that wait for others to
// join; the woken ranks then read the result. REQUIRES: the store has a result.
void release(Store& store, const RendezvousConfig& config) {
    int world_size = config.world_size;
    if (store.check(registration_key(0))) {
        const Registration first = parse_registration(
            store.get(registration_key(0), deadline_after(kRegistrationTimeout)));
        world_size = std::max(world_size, std::min(first.world_size, kMostRanks));
    }
    for (const std::string& key : of_all(joined_key, world_size)) store.set(key, "");
}

// Returns this rank's result. A rank has joined when its joined_key() is set, which comes
// after register_rank(): missing_text() finds a rank that registered and then stopped.
//
//     kAllJoined                  not before all ranks have joined
//     kContradiction + the fault  register_rank() has returned a fault on this rank
//     kTooLate + too_late_text()  the deadline has passed; who is missing at this time
//
// The store keeps the first result of all ranks, and each rank returns that one; only a
// rank with a fault returns its own. After a fault or a deadline no rank waits any longer,
// and each finds the result when it wakes. Other errors are passed on, without a result.
std::string await_result(Store& store, const RendezvousConfig& config,
                         const std::string& local_host, Deadline deadline) {
    // [lab10.6] Join and wait for all; set the result that fits, and release the others.
    try {
        const std::string fault = register_rank(store, config, local_host, deadline);
        if (!fault.empty()) {
            set_result(store, concat(kContradiction, fault));
            release(store, config);
            return concat(kContradiction, fault);
        }
        store.set(joined_key(config.rank), "");
        store.wait(of_all(joined_key, config.world_size), deadline);
        return set_result(store, kAllJoined);
    } catch (const Timeout&) {
        const std::string result =
            set_result(store, concat(kTooLate, too_late_text(store, config)));
        release(store, config);
        return result;
    }
    // [lab10.6]
}

}  // namespace

void agree(Store& store, const RendezvousConfig& config, const std::string& local_host,
           Deadline deadline) {
    const std::string result = await_result(store, config, local_host, deadline);
    if (result == kAllJoined) return;
    if (result.starts_with(kTooLate)) throw Timeout(result.substr(kTooLate.size()));
    throw Error(result.substr(std::min(kContradiction.size(), result.size())));
}

void await_latecomers(Store& store, int world_size) {
    try {
        store.wait(of_all(registration_key, world_size), deadline_after(kLateTime));
    } catch (const Error&) {  // the caller throws the first error
    }
}

}  // namespace mini::dist
