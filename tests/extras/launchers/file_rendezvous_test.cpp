// Rendezvous through a shared file, and the errors for ranks that are missing or twice.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "libmini/core/machine.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/extras/launchers/file_store.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

RendezvousConfig config_in(const std::string& path, int rank, int world_size,
                           const std::string& run_id = "") {
    return {{}, rank, world_size, Cookie{}, path, run_id, ""};
}

// Returns a rank's entry in the file: world size 3, process 9 on this host.
std::string registration_of_3() { return concat("3 9 ", host_name(), " 1"); }

}  // namespace

TEST_CASE("ranks join through a file, connect a mesh, and leave no file") {
    const int world_size = GENERATE(1, 2, 4);
    const mini::test::Folder folder;
    const std::string path = folder / "meet";

    // A killed run has left the file, in which its rank 0 had registered.
    const std::string key = "run//rendezvous/rank/0", value = "4 9 old 1";
    const uint32_t head[3] = {1, static_cast<uint32_t>(key.size()),
                              static_cast<uint32_t>(value.size())};
    std::ofstream(path) << "libmini file store 1\n"
                        << std::string(reinterpret_cast<const char*>(head), sizeof head)
                        << key << value;
    const auto failures = on_ranks(world_size, [&](int rank) {
        const RendezvousConfig config = config_in(path, rank, world_size);
        Rendezvous result = join_rendezvous(config, deadline_after(kLong));
        MINI_CHECK(result.local_host == "127.0.0.1", "wrong local_host");
        const Mesh mesh = connect_mesh(config, *result.store, result.local_host,
                                       Medium::kTcp, deadline_after(kLong));
        MINI_CHECK(mesh.streams.size() == static_cast<size_t>(world_size), "no mesh");
        if (result.store->add("met", 1) == world_size) result.store->set("all", "");
        result.store->wait({"all"}, deadline_after(kLong));
    });
    for (const auto& failure : failures) CHECK(text_of(failure).empty());
    CHECK(folder.names().empty());
}

TEST_CASE(
    "an error names a rank that two processes have in a rendezvous through a file") {
    const mini::test::Folder folder;
    const std::string path = folder / "meet";
    const auto twice = on_ranks(3, [&](int who) {
        join_rendezvous(config_in(path, who == 2 ? 1 : who, 3), deadline_after(kLong));
    });
    CHECK(contains(text_of(twice[0]), "two processes have RANK 1"));
    CHECK(contains(text_of(twice[0]), "each run a file of its own"));
    CHECK(folder.names().empty());
}

TEST_CASE("no rank waits for a second rank 0 that died after registering") {
    const mini::test::Folder folder;
    const std::string path = folder / "meet";
    std::optional<FileStore> store(path);
    store->set("run//rendezvous/rank/0", registration_of_3());
    const Deadline deadline = deadline_after(kLong);
    const auto failures = on_ranks(
        3, [&](int rank) { join_rendezvous(config_in(path, rank, 3), deadline); });
    CHECK_FALSE(has_passed(deadline));
    for (const auto& failure : failures)
        CHECK(contains(text_of(failure),
                       concat("Error: two processes have RANK 0: process 9 on ",
                              host_name(), " and process ")));
}

TEST_CASE("a run id separates a run from the entries of another run in the file") {
    const mini::test::Folder folder;
    const std::string path = folder / "meet";

    // Simulate a hanging rank of another run, which is registered and has the file open.
    FileStore hanging(path);
    hanging.compare_set("run/old/rendezvous/rank/0", "", "2 1 another 1");
    hanging.compare_set("run//rendezvous/rank/0", "", "1 1 old 1");
    const auto failures = on_ranks(2, [&](int rank) {
        join_rendezvous(config_in(path, rank, 2, "new"), deadline_after(kLong));
    });
    for (const auto& failure : failures) CHECK(text_of(failure).empty());

    // Without a run id the rank finds the old entry; the error names the old process.
    const std::string text = failure_of([&] {
        join_rendezvous(config_in(path, 0, 1), deadline_after(milliseconds(500)));
    });
    CHECK(contains(text, "two processes have RANK 0: process 1 on old and process "));
}
