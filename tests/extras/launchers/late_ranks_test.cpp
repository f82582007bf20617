// Ranks that join through a file late or never, in virtual time.

#include <optional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/extras/launchers/file_store.hpp"
#include "libmini/extras/simulation/process_cluster.hpp"
#include "tests/extras/simulation/late_ends.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace mini::dist {
namespace {

RendezvousConfig in_file(const std::string& path, int rank, int world_size) {
    return {{}, rank, world_size, Cookie{}, path, "", ""};
}

TEST_CASE("a missing rank is named in a rendezvous through a file too") {
    const mini::test::Folder folder;
    const std::string path = folder / "meet";
    ProcessCluster cluster({0, 0, 0, 0},
                           parse_links("10Gbit,20us; hosts of 4: 10Gbit,1us"), 2);
    const auto ends = cluster.run([&](int rank) {
        if (rank != 2) join_rendezvous(in_file(path, rank, 4), deadline_after(kPatience));
    });
    check_all_but(2, ends, "3 of 4 joined; missing: rank 2");
    CHECK(folder.names().empty());
}

TEST_CASE("the error for a rank that did not finish joining names its process") {
    const mini::test::Folder folder;
    const std::string path = folder / "meet";
    const int lost = GENERATE(0, 2);
    std::optional<FileStore> store(path);
    store->set(concat("run//rendezvous/rank/", lost), "3 9 host0 1");
    ProcessCluster cluster({0, 0, 0}, parse_links("10Gbit,20us; hosts of 3: 10Gbit,1us"),
                           2);
    const auto ends = cluster.run([&](int rank) {
        if (rank != lost)
            join_rendezvous(in_file(path, rank, 3), deadline_after(kPatience));
    });
    store.reset();
    check_all_but(lost, ends,
                  concat("2 of 3 joined; missing: rank ", lost,
                         " (process 9 on host0 began to join and went no further"));
    CHECK(folder.names().empty());
}

}  // namespace
}  // namespace mini::dist
