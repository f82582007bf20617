// The part of a lab's check that talks to its parent, labs/lab_tool/runner.py. Linked into
// each lab's check.
//
//     stacks   If a case does not end in time, the parent sends SIGUSR2 to each thread in
//              turn. The thread writes its rank and its stack, so the report of a deadlock
//              shows where each rank waits.
//     end      If the parent is killed, the process is killed, too.
//     story    If a sanitizer ends the process, the result has the case's messages.
//     token    The parent sends a secret through a socket. It is taken before the learner's
//              code runs, and sent back when every case has passed and Catch2 ends: a
//              learner's code that writes a result and calls _exit(0) does not pass.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using EventListener = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
using EventListener = Catch::TestEventListenerBase;
#endif

#include "libmini/core/world.hpp"

// Defined by the address sanitizer; a build without sanitizers prints no stacks.
extern "C" void __sanitizer_print_stack_trace() __attribute__((weak));
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace {

constexpr rlim_t kLargestFile = rlim_t{256} << 20;

void say(const std::string& line) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
}

// These functions are not async-signal-safe. That is acceptable here: the process is
// about to be killed, and the tool waits only a few seconds for the stacks.
void tell_stack(int) {
    const auto world = mini::current_world();
    say("== stack of " +
        (world ? "rank " + std::to_string(world->rank) : std::string("a thread")) + "\n");
    if (__sanitizer_print_stack_trace) __sanitizer_print_stack_trace();
    say("== end of stack\n");
}

// Makes Catch2 write what the case has told so far, as for a signal. Outside of a case
// getResultCapture() throws.
void tell_case() {
    try {
        Catch::getResultCapture().handleFatalErrorCondition("ended by a sanitizer");
    } catch (const std::exception&) {
        return;
    }
}

const bool watched = [] {
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell_case);
    struct sigaction action {};
    action.sa_handler = tell_stack;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, nullptr);

    // Write no core file, and limit the size of the result file.
    const rlimit no_core{0, 0}, file{kLargestFile, kLargestFile};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &file);
    return true;
}();

int token_socket = -1;
std::array<char, 32> token;  // TOKEN_BYTES of runner.py

// Runs before the constructors of global objects.
__attribute__((constructor(101))) void take_token() {
    const char* const number = std::getenv("MINI_TOKEN");
    if (!number) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a case may have no end: it ends with the tool
    const int fd = std::atoi(number);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (read(fd, token.data(), token.size()) == static_cast<ssize_t>(token.size()))
        token_socket = fd;
    unsetenv("MINI_TOKEN");
}

class TokenReturner : public EventListener {
  public:
    using EventListener::EventListener;

    void testRunEnded(const Catch::TestRunStats& run) override {
        if (token_socket < 0 || !run.totals.testCases.allPassed()) return;
        [[maybe_unused]] const auto sent =
            write(token_socket, token.data(), token.size());
    }
};
CATCH_REGISTER_LISTENER(TokenReturner)

}  // namespace
