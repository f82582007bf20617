// Runs simple::Group, which is compiled with the thread sanitizer, in a process of its own:
// a test case of the check runs this program, since the check has the address sanitizer.
//
// The sanitizer ends the program at the first access of two threads to one variable that
// no lock orders. It need not happen at the same time: the sanitizer compares the locks.

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <thread>

#include "labs/11-collectives/simple_group.hpp"

namespace {

constexpr unsigned kSeconds = 10;  // a thread that is not woken waits forever
constexpr int kGroups = 20;

class NoTransport : public mini::dist::Transport {
  public:
    int rank() const override { return 0; }
    int world_size() const override { return 1; }
    void send(int, std::span<const std::byte>) override {}
    void recv(int, std::span<std::byte>, const mini::dist::Combine&) override {}
    void send_recv(int, std::span<const std::byte>, int, std::span<std::byte>,
                   const mini::dist::Combine&) override {}
};

void run_group() {
    NoTransport transport;
    simple::Group group(transport);
    const auto first = group.start([](mini::dist::Transport&) {});
    const auto second = group.start([](mini::dist::Transport&) {});
    std::thread other([&] { first->wait(); });
    // Before any wait(), which would order the two threads.
    while (!second->is_completed()) std::this_thread::yield();
    second->wait();
    other.join();
}

// Several threads may end by an exception at once: the first one that comes here says why.
[[noreturn]] void say_why() {
    const std::exception_ptr thrown = std::current_exception();
    try {
        if (thrown) std::rethrow_exception(thrown);
        std::fprintf(stderr, "std::terminate() was called without an exception\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    } catch (...) {
        std::fprintf(stderr, "an exception of another type\n");
    }
    _exit(1);
}

}  // namespace

int main() {
    alarm(kSeconds);
    std::set_terminate(say_why);
    for (int i = 0; i < kGroups; ++i) run_group();
}
