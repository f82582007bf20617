// The part of a lab's check that responds to the watchdog.
//
// If a case does not end in time, the parent (labs/lab_tool/runner.py) sends SIGUSR2 to
// each thread of the case in turn. The thread writes its rank and its stack, so the
// report of a deadlock shows where each rank waits. Linked into each lab's check.

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "libmini/core/world.hpp"

// Defined by the address sanitizer; a build without sanitizers prints no stacks.
extern "C" void __sanitizer_print_stack_trace() __attribute__((weak));

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

const bool watched = [] {
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

}  // namespace
