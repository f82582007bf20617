#include "libmini/extras/backends/mpi_side.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/distributed/collectives/dissemination_barrier.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "libmini/distributed/transport/mesh.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"
#include "libmini/extras/backends/mpi_calls.hpp"

namespace mini::dist {
namespace {

// Returns the address that the user gives this host; "" if none is given.
std::string advertised_host() {
    return environment_variable("MINI_ADVERTISE_ADDR").value_or("");
}

// Returns an address at which other hosts can reach this host: MINI_ADVERTISE_ADDR, else
// the first IPv4 address that is not a loopback address.
std::string outside_address() {
    if (const std::string host = advertised_host(); !host.empty()) return host;
    ifaddrs* all = nullptr;
    MINI_CHECK(::getifaddrs(&all) == 0, system_message("getifaddrs", errno));
    std::string found;
    for (const ifaddrs* each = all; each != nullptr && found.empty();
         each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
        if ((each->ifa_flags & IFF_LOOPBACK) || !(each->ifa_flags & IFF_UP)) continue;
        char text[INET_ADDRSTRLEN] = "";
        ::inet_ntop(AF_INET,
                    &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text,
                    sizeof text);
        found = text;
    }
    ::freeifaddrs(all);
    MINI_CHECK(!found.empty(),
               "this host has only loopback addresses, but MPI's ranks are on several "
               "hosts; set MINI_ADVERTISE_ADDR to an address that the others reach");
    return found;
}

// The tag of our messages, because the program may send messages in MPI_COMM_WORLD too.
constexpr int kTag = 32109;

// How long the other ranks wait for rank 0 after the deadline, because rank 0 may be
// about to report an error; also how long rank 0 waits until its reply is sent.
constexpr std::chrono::milliseconds kGrace(500);

// Sent by every rank to rank 0.
struct Arrival {
    std::array<char, 192> host{};
};

// Sent by rank 0 to all ranks: the address of the store and the run's cookie, or an
// error.
struct Invitation {
    std::array<char, 64> address{};
    int port = 0;
    Cookie cookie{};
    Failure::Kind failure = Failure::Kind::kOther;
    std::array<char, 512> reason{};  // "" without an error
};

void put(const std::string& text, auto& buffer) {
    text.copy(buffer.data(), buffer.size() - 1);
}

// How the ranks of MPI_COMM_WORLD find rank 0's store: each rank sends a message to rank
// 0 and receives a reply. MPI's collectives would wait forever for a missing rank.
class StartMeeting {
  public:
    StartMeeting(int rank, int world_size, std::chrono::milliseconds timeout)
        : rank_(rank),
          timeout_(timeout),
          deadline_(deadline_after(timeout)),
          arrivals_(static_cast<size_t>(world_size)),
          requests_(arrivals_.size(), MPI_REQUEST_NULL) {
        put(system().host_id(), arrivals_[static_cast<size_t>(rank)].host);
    }

    /// Returns rank 0's invitation; blocks until the invitation arrives. On rank 0, calls
    /// `open` to create the store; its argument tells whether all ranks are on one host.
    /// Throws Timeout naming the missing ranks, and the error that rank 0 reports.
    Invitation hold(const std::function<Invitation(bool is_local)>& open) {
        if (rank_ != 0) return ask_rank_0();
        try {
            gather();
            const bool is_local = std::ranges::all_of(
                arrivals_,
                [&](const Arrival& each) { return each.host == arrivals_.front().host; });
            invitation_ = open(is_local);
        } catch (const Error&) {
            const Failure failure = current_failure();
            invitation_.failure = failure.kind;
            put(failure.message, invitation_.reason);
            send_to_all();
            throw;
        }
        send_to_all();
        return invitation_;
    }

  private:
    void gather() {
        for (int peer = 1; peer < world_size(); ++peer)
            start_receive(&arrivals_[static_cast<size_t>(peer)], sizeof(Arrival), peer);
        if (are_done(deadline_)) return;
        const std::string missing = missing_ranks(1, world_size(), [&](int peer) {
            return requests_[static_cast<size_t>(peer)] == MPI_REQUEST_NULL;
        });
        throw Timeout(
            concat("rank 0 waited ", seconds_text(timeout_), " for ", missing,
                   " in the start of backend mpi; did it fail, or is its process "
                   "stopped?"));
    }

    void send_to_all() {
        for (int peer = 1; peer < world_size(); ++peer)
            start_send(&invitation_, sizeof invitation_, peer);
        are_done(deadline_after(kGrace));  // connect_mesh reports an unreachable rank
    }

    Invitation ask_rank_0() {
        start_receive(&invitation_, sizeof invitation_, 0);
        requests_.push_back(MPI_REQUEST_NULL);
        check_mpi(MPI_Isend(&arrivals_[static_cast<size_t>(rank_)], sizeof(Arrival),
                            MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests_.back()),
                  "MPI_Isend");
        if (!are_done(deadline_ + kGrace))
            throw Timeout(
                concat("rank ", rank_, " waited ", seconds_text(timeout_),
                       " for rank 0 in the start of backend mpi; did it fail, or "
                       "is its process stopped?"));
        const std::string reason = invitation_.reason.data();
        if (!reason.empty())
            throw_failure(reported({invitation_.failure, -1, reason}, 0));
        return invitation_;
    }

    void start_receive(void* buffer, size_t bytes, int peer) {
        check_mpi(MPI_Irecv(buffer, static_cast<int>(bytes), MPI_BYTE, peer, kTag,
                            MPI_COMM_WORLD, &requests_[static_cast<size_t>(peer)]),
                  "MPI_Irecv");
    }

    void start_send(const void* buffer, size_t bytes, int peer) {
        check_mpi(MPI_Isend(buffer, static_cast<int>(bytes), MPI_BYTE, peer, kTag,
                            MPI_COMM_WORLD, &requests_[static_cast<size_t>(peer)]),
                  "MPI_Isend");
    }

    // Blocks until all requests are done; returns false if the deadline passes first.
    bool are_done(Deadline deadline) {
        for (int polls = 0;; ++polls) {
            bool all_done = true;
            for (MPI_Request& request : requests_) all_done &= is_done(request);
            if (all_done) return true;
            if (has_passed(deadline)) return false;
            pause(polls);
        }
    }

    int world_size() const { return static_cast<int>(arrivals_.size()); }

    const int rank_;
    const std::chrono::milliseconds timeout_;
    const Deadline deadline_;
    std::vector<Arrival> arrivals_;  // by rank
    Invitation invitation_;
    std::vector<MPI_Request> requests_;  // by rank; then this rank's send to rank 0
};

}  // namespace

Side connect_mpi_side(int rank, int world_size, std::chrono::milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    std::unique_ptr<TcpStoreServer> server;
    const auto open = [&](bool is_local) {
        Invitation invitation;
        invitation.cookie = parse_cookie(random_hex(32));
        const std::string host = is_local ? "127.0.0.1" : outside_address();
        const std::string mine = local_address(listen_for(host)).host;
        server = std::make_unique<TcpStoreServer>(Address{mine, 0}, invitation.cookie);
        put(host, invitation.address);
        invitation.port = server->address().port;
        return invitation;
    };
    auto start = std::make_unique<StartMeeting>(rank, world_size, timeout);
    Invitation invitation;
    try {
        invitation = start->hold(open);
    } catch (...) {
        [[maybe_unused]] const auto* in_use =
            start.release();  // MPI may still write to this object
        throw;
    }

    const Address address{invitation.address.data(), invitation.port};
    TcpStore store(address, invitation.cookie, deadline);
    const RendezvousConfig config{address, rank, world_size, invitation.cookie};
    const std::string advertised = advertised_host();
    const std::string host = advertised.empty() ? store.local_host() : advertised;
    Mesh mesh = connect_mesh(config, store, host, Medium::kAuto, deadline);
    auto transport = std::make_unique<MeshTransport>(rank, std::move(mesh.streams));
    await_all_ranks(*transport, deadline);  // before the store is destroyed
    return {std::move(transport), invitation.cookie, host};
}

}  // namespace mini::dist
