#include "labs/10-store-and-rendezvous/store_barrier.hpp"

#include <cstdint>

#include "libmini/distributed/rendezvous/rendezvous.hpp"

// [lab10 file]
namespace mini::dist {
namespace {

[[noreturn]] void throw_late(Store& store, const std::string& round_name,
                             int world_size) {
    const std::string missing = missing_ranks(0, world_size, [&](int rank) {
        return store.check(concat(round_name, "/rank/", rank));
    });
    throw Timeout(
        concat("barrier ", round_name, " of ", world_size, " ranks; missing: ", missing));
}

}  // namespace

void store_barrier(Store& store, const std::string& name, int rank, int world_size,
                   Deadline deadline) {
    // [lab10.2] Count this rank, find its round, and wait for the last rank of the round.
    const int64_t arrived = store.add(name, 1);
    const std::string round = concat(name, "/", (arrived - 1) / world_size);
    store.set(concat(round, "/rank/", rank), "");
    if (arrived % world_size == 0) store.set(concat(round, "/done"), "");
    try {
        store.wait({concat(round, "/done")}, deadline);
    } catch (const Timeout&) {
        throw_late(store, round, world_size);
    }
    // [lab10.2]
}

}  // namespace mini::dist
// [lab10 file]
