// A rank's mesh listener with too many silent connections, and without free descriptors.

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "tests/distributed/processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// A store that calls `listens` with rank 0's address when rank 0 sets it.
class WatchedStore : public HashStore {
  public:
    explicit WatchedStore(std::function<void(const Address&)> listens)
        : listens_(std::move(listens)) {
        set("mesh/1", "elsewhere 127.0.0.1:1 -");
    }
    void set(const std::string& key, const std::string& value) override {
        HashStore::set(key, value);
        if (key != "mesh/0") return;
        std::istringstream place(value);
        std::string host, address;
        place >> host >> address;
        listens_(parse_address(address));
    }

  private:
    std::function<void(const Address&)> listens_;
};

}  // namespace

TEST_CASE("a rank without a free descriptor reports this at once") {
    if (mini::test::kWatchesMemory) {
        WARN("left out: the sanitizer needs descriptors of its own");
        return;
    }
    Processes processes;
    processes.start(1, [](int, int) {
        std::vector<Socket> taken;
        WatchedStore store([&](const Address& listener) {
            taken.push_back(connect_to(listener, deadline_after(kLong)));
            const rlimit few{40, 40};
            ::setrlimit(RLIMIT_NOFILE, &few);
            while (true) {
                Socket more(::fcntl(taken.front().fd(), F_DUPFD_CLOEXEC, 0));
                if (!more.is_open()) return;
                taken.push_back(std::move(more));
            }
        });
        const std::string text = failure_of([&] {
            connect_mesh(config_of(0, 2), store, "127.0.0.1", Medium::kTcp,
                         deadline_after(std::chrono::hours(1)));
        });
        MINI_CHECK(contains(text, "Too many open files; raise ulimit -n"), text);
    });
    CHECK(processes.report(0) == "");
}

TEST_CASE("a rank without descriptors for the memory of its peer tells it the reason") {
    if (mini::test::kWatchesMemory) {
        WARN("left out: the sanitizer needs descriptors of its own");
        return;
    }
    Processes processes;
    processes.start(2, [](int rank, int port) {
        std::unique_ptr<TcpStoreServer> server;
        const Address place{"127.0.0.1", port};
        if (rank == 0) server = std::make_unique<TcpStoreServer>(place, Cookie{});
        TcpStore store(place, Cookie{}, deadline_after(kLong));
        std::vector<Socket> taken;
        if (rank == 0) {
            // Leave 2: for the listener, and rank 1's connection.
            store.get("connected", deadline_after(kLong));
            const rlimit few{40, 40};
            ::setrlimit(RLIMIT_NOFILE, &few);
            for (Socket more(::dup(0)); more.is_open(); more = Socket(::dup(0)))
                taken.push_back(std::move(more));
            taken.resize(taken.size() - 2);
        }
        store.set("connected", "");
        const std::string text = failure_of([&] {
            connect_mesh(config_of(rank, 2), store, "127.0.0.1", Medium::kAuto,
                         deadline_after(kLong));
        });
        if (rank == 1) store.set("done", "");
        if (rank == 0) store.get("done", deadline_after(kLong));
        MINI_CHECK(
            text.starts_with(rank == 0 ? "Error: " : "PeerLost(0): rank 0 failed: "),
            text);
        MINI_CHECK(contains(text, "rank 0 cannot use the memory of rank 1: open /proc/"),
                   text);
    });
    CHECK(processes.report(0) == "");
    CHECK(processes.report(1) == "");
}

TEST_CASE("a rank's listener closes the oldest of too many silent connections") {
    constexpr size_t kSilent = 150, kMaxPending = 64;
    Processes processes;
    processes.start(1, [](int, int) {
        std::vector<Socket> silent;
        size_t before = 0;
        std::promise<void> listens;
        WatchedStore store([&](const Address& listener) {
            for (size_t i = 0; i < kSilent; ++i)
                silent.push_back(connect_to(listener, deadline_after(kLong)));
            before = open_descriptors();
            listens.set_value();
        });
        auto rank0 = std::async(std::launch::async, [&] {
            return connect_mesh(config_of(0, 2), store, "127.0.0.1", Medium::kTcp,
                                deadline_after(kLong));
        });
        listens.get_future().wait();

        // Count the accepted connections until the first connection is closed.
        size_t max_open = 0;
        const Deadline deadline = deadline_after(kLong);
        while (!wait_for(silent.front(), POLLIN, deadline_after(milliseconds(1)))) {
            MINI_CHECK(!has_passed(deadline), "the first is still open");
            max_open = std::max(max_open, open_descriptors());
        }
        MINI_CHECK(max_open <= before + kMaxPending + 2, max_open, " after ", before);
        connect_mesh(config_of(1, 2), store, "127.0.0.1", Medium::kTcp,
                     deadline_after(kLong));
        MINI_CHECK(rank0.get().streams[1].is_open(), "no mesh");
    });
    CHECK(processes.report(0) == "");
}
