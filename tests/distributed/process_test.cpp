// Processes that cannot start threads, and ranks of different users. tests/faults has the
// errors of ranks that are processes.
//
// The parent only forks and waits: it has no threads, so that fork is safe.

#include <malloc.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "tests/distributed/processes.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Limits the address space of this process, so that it can start `count` more threads.
void allow_threads(int count) {
    constexpr size_t kStack = size_t{1} << 30, kOther = kStack / 2;
    ::mallopt(M_ARENA_MAX, 1);
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, kStack);
    ::pthread_setattr_default_np(&attributes);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const size_t limit = pages * static_cast<size_t>(::getpagesize()) +
                         static_cast<size_t>(count) * kStack + kOther;
    const rlimit room{limit, limit};
    MINI_CHECK(::setrlimit(RLIMIT_AS, &room) == 0, "no limit");
}

// Changes this process's user, as if that other user had started the program.
void become_other_user() {
    constexpr uid_t kOtherUser = 65534;
    MINI_CHECK(::setresuid(kOtherUser, kOtherUser, kOtherUser) == 0, "setresuid failed");
    ::prctl(PR_SET_DUMPABLE, 1);  // otherwise only root may open /proc/self/fd
}

}  // namespace

TEST_CASE("run_threads ends its threads and throws if it cannot start all of them") {
    // run_threads(3) starts six threads: one for each of the three groups, and one for
    // each rank.
    const int threads = GENERATE(0, 1, 2, 3, 4, 5);
    Processes processes;
    processes.start(1, [&](int /*rank*/, int /*port*/) {
        allow_threads(threads);
        run_threads(3, [](ProcessGroup& group) { group.barrier(); });
    });
    const std::string text = processes.report(0);
    CAPTURE(threads, text);
    CHECK(contains(text, "Error: cannot start a thread: "));
    CHECK(contains(text, "ulimit -u"));
}

TEST_CASE("ranks of one host that run as different users communicate over TCP") {
    if (::geteuid() != 0) {
        WARN("only root can become another user: not tested");
        return;
    }
    const int odd = GENERATE(0, 1, 2);
    Processes processes;
    processes.start(3, [&](int rank, int port) {
        if (rank == odd) become_other_user();
        const auto group =
            init_process_group({.init_method = concat("tcp://127.0.0.1:", port),
                                .rank = rank,
                                .world_size = 3,
                                .timeout = kLong});
        const Tensor x = Tensor::full({100}, rank);
        group->all_reduce(x);
        MINI_CHECK(x.to_vector<float>()[99] == 3.0f, "the sum is wrong");
        destroy_process_group();
    });
    for (int rank = 0; rank < 3; ++rank) {
        const std::string text = processes.report(rank);
        CAPTURE(odd, rank, text);
        CHECK(text == "");
    }
}
