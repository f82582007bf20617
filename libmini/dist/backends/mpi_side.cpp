#include "libmini/dist/backends/mpi_side.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/dist/backends/mpi_types.hpp"
#include "libmini/dist/mesh.hpp"
#include "libmini/dist/mesh_transport.hpp"
#include "libmini/dist/tcp_store.hpp"
#include "libmini/dist/tcp_store_server.hpp"

namespace mini::dist {
namespace {

// Where other hosts reach this one: its first address that is not the loopback's.
std::string outside_address() {
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
               "this host has no address but the loopback's, and MPI's "
               "ranks are on several hosts");
    return found;
}

bool are_all_on_this_host(int world_size) {
    MPI_Comm here = MPI_COMM_NULL;
    int ranks_here = 0;
    check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                  &here),
              "MPI_Comm_split_type");
    check_mpi(MPI_Comm_size(here, &ranks_here), "MPI_Comm_size");
    check_mpi(MPI_Comm_free(&here), "MPI_Comm_free");
    int least = 0;
    check_mpi(MPI_Allreduce(&ranks_here, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD),
              "MPI_Allreduce");
    return least == world_size;
}

// Where the store is, and the run's cookie; rank 0 tells all.
struct Invitation {
    std::array<char, 64> host{};
    int port = 0;
    Cookie cookie{};
};

}  // namespace

Side connect_mpi_side(int rank, int world_size, Deadline deadline) {
    const bool is_local = are_all_on_this_host(world_size);
    std::unique_ptr<TcpStoreServer> server;
    Invitation invitation;
    if (rank == 0) {
        invitation.cookie = parse_cookie(random_hex(32));
        const std::string host = is_local ? "127.0.0.1" : outside_address();
        server = std::make_unique<TcpStoreServer>(Address{host, 0}, invitation.cookie);
        host.copy(invitation.host.data(), invitation.host.size() - 1);
        invitation.port = server->address().port;
    }
    check_mpi(MPI_Bcast(&invitation, sizeof invitation, MPI_BYTE, 0, MPI_COMM_WORLD),
              "MPI_Bcast");

    const Address address{invitation.host.data(), invitation.port};
    TcpStore store(address, invitation.cookie, deadline);
    const Meeting meeting{address, rank, world_size, invitation.cookie};
    Mesh mesh = connect_mesh(meeting, store, store.local_host(), Medium::kAuto, deadline);
    check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");  // before the store goes
    return {std::make_unique<MeshTransport>(rank, std::move(mesh.streams)),
            invitation.cookie, store.local_host()};
}

}  // namespace mini::dist
