// spawn: ranks as forked processes, and the errors in the parent when a rank fails. The
// parent has no other threads, as spawn requires.

#include "libmini/distributed/launch/spawn.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/tensor/device.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// The thread sanitizer starts its own thread, maybe before these tests. Then spawn
// throws, because the process has another thread.
constexpr bool kCanFork = !mini::test::kWatchesThreads;

// The undefined-behaviour sanitizer opens descriptors to check memory. If no descriptor
// is free, the sanitizer reports false errors.
constexpr bool kCanUseUpDescriptors = !mini::test::kWatchesMemory;

constexpr rlim_t kFewDescriptors = 40;
constexpr rlim_t kSilent = 150;  // connections that never send a hello

bool can_spawn() {
    if (kCanFork) return true;
    WARN(
        "left out: the thread sanitizer has its own threads, and spawn does not fork "
        "with other threads");
    return false;
}

// A pipe that all ranks write to.
struct Pipe {
    Pipe() { REQUIRE(::pipe(ends) == 0); }
    ~Pipe() {
        ::close(ends[0]);
        if (ends[1] >= 0) ::close(ends[1]);
    }
    void write(const std::string& text) const {
        MINI_CHECK(::write(ends[1], text.data(), text.size()) >= 0, "write");
    }

    // Blocks until all writing ends are closed. Returns all bytes that were written.
    std::string read_all() {
        ::close(std::exchange(ends[1], -1));
        std::string text;
        char byte;
        while (::read(ends[0], &byte, 1) == 1) text += byte;
        return text;
    }
    char read_one() const {
        char byte = 0;
        MINI_CHECK(::read(ends[0], &byte, 1) == 1, "read");
        return byte;
    }
    // Returns the number before the next newline.
    int read_number() const {
        std::string digits;
        for (char c = read_one(); c != '\n'; c = read_one()) digits += c;
        return std::stoi(digits);
    }

    int ends[2];
};

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "-" : value;
}

int children_of_this_process() {
    return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD ? 0 : 1;
}

}  // namespace

TEST_CASE(
    "each spawned rank has a rank's environment variables and all ranks form a group") {
    if (!can_spawn()) return;
    const int world_size = GENERATE(1, 2, 4);
    Pipe pipe;
    spawn(
        [&](int rank) {
            MINI_CHECK(variable("RANK") == std::to_string(rank), "RANK");
            MINI_CHECK(variable("WORLD_SIZE") == std::to_string(world_size), "size");
            MINI_CHECK(get_local_rank() == rank, "local rank");
            MINI_CHECK(variable("LOCAL_WORLD_SIZE") == std::to_string(world_size),
                       "local size");
            MINI_CHECK(variable("GROUP_RANK") == "0", "node");
            MINI_CHECK(variable("MINI_STORE_COOKIE").size() == 32, "cookie");
            init_process_group();
            Tensor x = Tensor::full({3}, rank + 1);
            default_group()->all_reduce(x);
            const auto sum = static_cast<float>(world_size * (world_size + 1) / 2);
            MINI_CHECK(x.to_vector<float>() == std::vector<float>(3, sum), "sum");
            destroy_process_group();
            pipe.write("x");
        },
        world_size);
    CHECK(pipe.read_all() == std::string(static_cast<size_t>(world_size), 'x'));
    CHECK(variable("MINI_STORE_COOKIE") == "-");
    CHECK(children_of_this_process() == 0);
}

TEST_CASE("the exception of a rank is rethrown in the parent with the rank") {
    if (!can_spawn()) return;
    const int failing_rank = GENERATE(0, 1, 2);
    const auto body = [&](int rank) {
        if (rank == failing_rank) throw UsageError("the root cause");
        ::pause();
    };
    try {
        spawn(body, 3);
        FAIL("nothing was thrown");
    } catch (const RankFailed& failed) {
        CHECK(failed.rank() == failing_rank);
        CHECK(failed.what() == concat("rank ", failing_rank, " failed: the root cause"));
    }
    CHECK(children_of_this_process() == 0);
}

TEST_CASE("the error for a rank that dies names the rank and its signal or exit code") {
    if (!can_spawn()) return;
    const auto failure_when = [](auto&& die) {
        const auto body = [&](int rank) {
            if (rank == 1) die();
            ::pause();
        };
        return failure_of([&] { spawn(body, 2); });
    };
    const std::string killed = failure_when([] { ::raise(SIGKILL); });
    CHECK(contains(killed, "rank 1 (process "));
    CHECK(contains(killed, "was ended by SIGKILL"));
    CHECK(contains(failure_when([] { ::_exit(3); }), "ended with code 3"));
    CHECK(contains(failure_when([] { throw 7; }),
                   "rank 1 failed: an exception that is no"));
    CHECK(contains(failure_when([] { throw std::bad_alloc(); }),
                   "rank 1 failed: std::bad_alloc"));
    const std::string text = failure_when([] { throw Error(std::string(100'000, 'x')); });
    CHECK(contains(text, std::string(4000, 'x')));
    CHECK(text.size() < 4100);
}

TEST_CASE("spawn names the rank that was killed or stopped and not one that waits") {
    if (!can_spawn()) return;
    const int signal = GENERATE(SIGKILL, SIGSTOP);
    const Call call{.operation = Operation::kBarrier, .timeout = milliseconds(1000)};
    const auto body = [&](int rank) {
        init_process_group();
        default_group()->barrier();
        if (rank == 1) ::raise(signal);
        while (true) default_group()->start(call)->wait();
    };
    try {
        spawn(body, 2, {.grace = milliseconds(50)});
        FAIL("nothing was thrown");
    } catch (const RankFailed& failed) {
        CHECK(failed.rank() == 1);
        CHECK(
            contains(failed.what(), signal == SIGKILL ? "SIGKILL" : "rank 1 is silent"));
    }
}

TEST_CASE("spawn names a rank that returned before a collective of the others") {
    if (!can_spawn()) return;
    const int early = GENERATE(0, 2);
    const auto body = [&](int rank) {
        init_process_group()->barrier();
        if (rank != early) default_group()->barrier();
    };
    try {
        spawn(body, 3);
        FAIL("nothing was thrown");
    } catch (const RankFailed& failed) {
        CHECK(failed.rank() == early);
        CHECK(contains(failed.what(), concat("rank ", early, " returned early: rank ")));
    }
}

TEST_CASE("without a loopback interface spawn fails at once and names the next step") {
    if (!can_spawn()) return;
    const auto body = [](int) {
        // The loopback interface of a new network is down.
        const bool is_allowed =
            ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
        if (!is_allowed) throw Error("left out");
        init_process_group();
    };
    const std::string text = failure_of([&] { spawn(body, 2); });
    if (contains(text, "left out"))
        WARN("left out: this machine forbids network namespaces");
    else
        CHECK(contains(text, "Network is unreachable; the loopback interface is down"));
}

TEST_CASE("an exception that ends the scope of a group does not wait for other ranks") {
    if (!can_spawn()) return;
    const auto body = [](int rank) {
        const ProcessGroupGuard group;
        if (rank == 0) ::pause();
        const auto work = group->all_reduce_async(Tensor::ones({1}));
        throw Error("the cause");
    };
    CHECK(failure_of([&] { spawn(body, 2); }) == "Error: rank 1 failed: the cause");
}

TEST_CASE("spawn waits for the rank that an earlier PeerLost blames") {
    if (!can_spawn()) return;
    Pipe process_ids;
    const auto body = [&](int rank) {
        if (rank == 0) {
            process_ids.write(concat(::getpid(), "\n"));
            throw PeerLost(1, "rank 1 is gone");
        }

        // Wait until the parent has reaped rank 0, then fail.
        const int process = process_ids.read_number();
        while (::kill(process, 0) == 0) ::usleep(1000);
        throw Error("the cause");
    };
    CHECK(failure_of([&] { spawn(body, 2); }) == "Error: rank 1 failed: the cause");
}

TEST_CASE("a rank that ignores SIGTERM is killed after the grace period") {
    if (!can_spawn()) return;
    Pipe ready;
    const auto body = [&](int rank) {
        if (rank == 0) {
            ::signal(SIGTERM, SIG_IGN);
            ready.write("x");
            while (true) ::pause();
        }
        ready.read_one();
        throw Error("enough");
    };
    CHECK(failure_of([&] { spawn(body, 2, {.grace = milliseconds(50)}); }) ==
          "Error: rank 1 failed: enough");
    CHECK(children_of_this_process() == 0);
    CHECK(ready.read_all() == "");
}

TEST_CASE("no rank outlives a parent that is killed") {
    if (!can_spawn()) return;
    Pipe alive;  // the last rank that ends closes the last writing end
    const pid_t parent = ::fork();
    if (parent == 0) {
        spawn(
            [&](int) {
                alive.write("x");
                while (true) ::pause();
            },
            3);
        ::_exit(0);
    }
    for (int i = 0; i < 3; ++i) CHECK(alive.read_one() == 'x');
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    CHECK(alive.read_all() == "");
}

TEST_CASE("spawn throws if the process has another thread and says what to do") {
    Pipe pipe;
    std::thread other([&] { pipe.read_one(); });
    const std::string text = failure_of([] { spawn([](int) {}, 2); });
    pipe.write("x");
    other.join();
    CAPTURE(text);
    CHECK(contains(text, "UsageError: spawn: this process has "));
    CHECK(contains(text, "call spawn before anything starts threads"));
    CHECK(contains(text, "set_num_threads"));
}

// Hidden, because no later test in this process can call spawn.
TEST_CASE("spawn throws if the process has used CUDA and says what to do", "[.]") {
    cuda_device_count();
    const std::string text = failure_of([] { spawn([](int) {}, 2); });
    CAPTURE(text);
    CHECK(contains(text, "UsageError: spawn: this process has used CUDA"));
    CHECK(contains(text, "use devices only within the ranks"));
}

TEST_CASE("spawn needs at least one rank") {
    const int world_size = GENERATE(0, -1);
    CHECK(contains(failure_of([&] { spawn([](int) {}, world_size); }),
                   concat("UsageError: spawn: world_size is ", world_size)));
}

TEST_CASE("thirty concurrent jobs get different ports and do not connect to each other") {
    if (!can_spawn()) return;
    spawn(
        [](int job) {
            spawn(
                [job](int rank) {
                    init_process_group();
                    Tensor x = Tensor::full({1}, 100 * job + rank);
                    default_group()->all_reduce(x);
                    MINI_CHECK(x.item() == 200 * job + 1, "another job's number");
                    destroy_process_group();
                },
                2);
        },
        30);
}

TEST_CASE(
    "a store without free descriptors drops unknown connections and accepts clients") {
    if (!can_spawn()) return;
    if (!kCanUseUpDescriptors) {
        WARN("left out: the sanitizer needs its own descriptors");
        return;
    }
    Pipe port, done;
    const auto serve = [&] {
        const rlimit few{kFewDescriptors, kFewDescriptors};
        ::setrlimit(RLIMIT_NOFILE, &few);
        const TcpStoreServer server({"127.0.0.1", 0}, Cookie{});
        port.write(concat(server.address().port, "\n"));
        done.read_one();
        MINI_CHECK(server.counters().clients == 2, "clients");
        // The server may have kept as many silent connections as it had descriptors.
        MINI_CHECK(server.counters().dropped >= kSilent - kFewDescriptors, "dropped");
    };
    const auto flood = [&] {
        const Address address{"127.0.0.1", port.read_number()};
        TcpStore early(address, Cookie{}, deadline_after(kLong));
        std::vector<Socket> silent;
        for (rlim_t i = 0; i < kSilent; ++i)
            silent.push_back(connect_to(address, deadline_after(kLong)));
        TcpStore late(address, Cookie{}, deadline_after(kLong));
        late.set("key", "value");
        MINI_CHECK(early.get("key") == "value", "another value");
        done.write("x");
    };
    spawn([&](int rank) { rank == 0 ? serve() : flood(); }, 2);
}
