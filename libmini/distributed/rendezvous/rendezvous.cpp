#include "libmini/distributed/rendezvous/rendezvous.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/core/text.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/rendezvous/agreement.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace mini::dist {
namespace {

// How long rank 0 serves the store after a failure, so that other ranks can read the
// reason.
constexpr std::chrono::seconds kFarewellTime(2);

// How long rank 0 tries to connect to another process that is rank 0 and has our port.
constexpr std::chrono::seconds kDoubleTime(3);

constexpr int kStrangerTries = 3;
constexpr std::chrono::milliseconds kStrangerPause(30);

std::unique_ptr<TcpStore> connect_to_store(const RendezvousConfig& config,
                                           const Address& address, Deadline deadline) {
    const auto connect = [&] {
        return std::make_unique<TcpStore>(address, config.cookie, deadline);
    };
    // Try again, because rank 0 may have died in the middle of its Hello. If another
    // program listens at the address, all attempts fail the same way.
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

// Connects to the store that already listens at our address. If the store belongs to this
// run, two processes claim rank 0, and register_rank() reports it. Otherwise throws `busy`.
std::unique_ptr<TcpStore> find_double(const RendezvousConfig& config, const Error& busy) {
    try {
        return std::make_unique<TcpStore>(config.master, config.cookie,
                                          deadline_after(kDoubleTime));
    } catch (const Error&) {
        throw busy;
    }
}

std::string first_label(const std::string& name) {
    return name.substr(0, name.find('.'));
}

// Throws UsageError if rank 0's store, which listens at `address`, cannot be reached from
// the job's other hosts; logs a warning if this is likely. An explicit 127.0.0.1 means
// that all "nodes" of the job are on this machine.
void check_reachable(const RendezvousConfig& config, const Address& address) {
    const std::string& host = config.master.host;
    if (!config.has_other_hosts || host == address.host) return;
    const std::string fault =
        concat("rank 0 listens on ", to_text(address), " for ", to_text(config.master),
               ", which other machines cannot reach");
    const std::string advice =
        "; set MASTER_ADDR (minirun's --rdzv-endpoint) to the number of this machine in "
        "the network of the nodes, or to 127.0.0.1 if all nodes are on this machine";
    if (!is_loopback(address)) return;
    if (first_label(host) == first_label(system().host_name()))
        throw UsageError(fault, advice);
    logging::warning(fault, advice);
}

// Throws UsageError if this rank would publish a loopback address because it connected to
// its own host at 0.0.0.0.
void check_published(const RendezvousConfig& config) {
    if (config.has_other_hosts && is_any(config.master) && config.advertise.empty())
        throw UsageError(
            "MASTER_ADDR is ", config.master.host,
            " in a job with several nodes; set MINI_ADVERTISE_ADDR to an address "
            "by which the other nodes reach this machine");
}

Rendezvous open_tcp(RendezvousConfig& config, Deadline deadline) {
    check_published(config);
    Rendezvous result;
    Address address = config.master;
    std::unique_ptr<TcpStore> store;
    if (config.rank == 0) {
        await_name(address, deadline);
        try {
            result.server = std::make_unique<TcpStoreServer>(address, config.cookie);
            address = result.server->address();
        } catch (const Error& busy) {
            store = find_double(config, busy);
        }
        if (result.server) check_reachable(config, address);
    }
    if (!store) store = connect_to_store(config, address, deadline);
    result.local_host = store->local_host();
    config.store_address = store->server_address();
    result.store = std::move(store);
    return result;
}

Rendezvous open_file(const RendezvousConfig& config) {
    if (!rank_source())
        throw UsageError(
            "init_process_group: file:// needs the extra \"launchers\": configure with "
            "it on, and call extras::use_all() in main");
    Rendezvous result;
    result.store = rank_source()->open_file(config.file, config.run_id);
    result.local_host = "127.0.0.1";
    return result;
}

}  // namespace

Rendezvous join_rendezvous(const RendezvousConfig& given, Deadline deadline) {
    RendezvousConfig config = given;
    Rendezvous result =
        config.file.empty() ? open_tcp(config, deadline) : open_file(config);
    // A call waits for a reply of the store no longer than the ranks have time to join.
    result.store->set_timeout(
        std::chrono::milliseconds(std::max(1, milliseconds_left(deadline))));
    if (!config.advertise.empty()) result.local_host = config.advertise;
    try {
        agree(*result.store, config, result.local_host, deadline);
    } catch (const Timeout&) {  // all ranks had the whole time to join
        part_after_failure(std::move(result));
        throw;
    } catch (const Error&) {
        // Let the other ranks read the result before the store closes.
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
