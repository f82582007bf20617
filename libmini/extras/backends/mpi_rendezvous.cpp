#include "libmini/extras/backends/mpi_rendezvous.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "libmini/extras/backends/mpi_calls.hpp"

namespace mini::dist {
namespace {

// The tag of our messages, because the program may send messages in MPI_COMM_WORLD too.
constexpr int kTag = 32109;

// How long rank 0 waits until MPI has sent its messages: MPI sends small ones at once.
constexpr std::chrono::milliseconds kSendTime(500);

// The address that the user gives this host.
constexpr const char* kAdvertised = "MINI_ADVERTISE_ADDR";

// Returns an address at which the ranks can reach this host: MINI_ADVERTISE_ADDR, else the
// first IPv4 address that is not a loopback address, else 127.0.0.1.
std::string reachable_address() {
    if (const std::string host = environment(kAdvertised); !host.empty()) return host;
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
    return found.empty() ? "127.0.0.1" : found;
}

// Sent by rank 0 to all other ranks: the address of the store, and the run's cookie.
struct Invitation {
    std::array<char, 64> host{};
    int port = 0;
    Cookie cookie{};
};

// The memory that MPI reads or writes, and its requests.
struct Mail {
    Invitation invitation;
    std::vector<MPI_Request> requests;

    // Blocks until all requests are done; returns false if the deadline passes first.
    bool is_done_until(Deadline deadline) {
        for (int polls = 0;; ++polls) {
            bool all_done = true;
            for (MPI_Request& request : requests) all_done &= is_done(request);
            if (all_done || has_passed(deadline)) return all_done;
            pause(polls);
        }
    }
};

// Opens the store of rank 0, and sends its address to all other ranks.
std::unique_ptr<TcpStoreServer> invite(int world_size, Mail& mail) {
    Invitation& invitation = mail.invitation;
    invitation.cookie = parse_cookie(random_hex(32));
    const std::string host = reachable_address();
    const std::string mine = local_address(listen_for(host)).host;
    auto server = std::make_unique<TcpStoreServer>(Address{mine, 0}, invitation.cookie);
    host.copy(invitation.host.data(), invitation.host.size() - 1);
    invitation.port = server->address().port;
    for (int peer = 1; peer < world_size; ++peer)
        check_mpi(MPI_Isend(&invitation, sizeof invitation, MPI_BYTE, peer, kTag,
                            MPI_COMM_WORLD, &mail.requests.emplace_back()),
                  "MPI_Isend");
    return server;
}

}  // namespace

MpiRendezvous join_over_mpi(int rank, int world_size, std::chrono::milliseconds timeout) {
    const Deadline deadline = deadline_after(timeout);
    const auto mail = std::make_shared<Mail>();
    std::unique_ptr<TcpStoreServer> server;
    if (rank == 0)
        server = invite(world_size, *mail);
    else
        check_mpi(MPI_Irecv(&mail->invitation, sizeof(Invitation), MPI_BYTE, 0, kTag,
                            MPI_COMM_WORLD, &mail->requests.emplace_back()),
                  "MPI_Irecv");
    if (!mail->is_done_until(rank == 0 ? deadline_after(kSendTime) : deadline)) {
        mpi_library().keep(mail);
        if (rank != 0)
            throw Timeout(
                concat("rank ", rank, " waited ", seconds_text(timeout),
                       " for rank 0 in the start of backend mpi; did it fail, or is its "
                       "process stopped?"));
    }

    const Invitation& invitation = mail->invitation;
    const Address address{invitation.host.data(), invitation.port};
    auto store = std::make_unique<TcpStore>(address, invitation.cookie, deadline);
    const std::string advertised = environment(kAdvertised);
    const std::string host = advertised.empty() ? store->local_host() : advertised;
    return {{std::move(server), std::move(store), host},
            {address, rank, world_size, invitation.cookie}};
}

}  // namespace mini::dist
